extension ResizeGeometry {
    /// The sizes of weserv/images. A result is never enlarged by half a step: without `enlarge`, each side that would
    /// grow stays unchanged, and the other side is scaled as usual.
    ///
    /// - Parameter box: sides in pixels. `fill` stretches a single side.
    init(weserv source: PixelSize, box: Box, fit: Fit, enlarge: Bool) {
        var (across, down) = Self.shrinks(of: source, to: box, fit: fit)
        if !enlarge { (across, down) = (max(1, across), max(1, down)) }
        let scaled = PixelSize(
            width: Self.side(source.width, shrunkBy: across), height: Self.side(source.height, shrunkBy: down))
        self.init(scaled: scaled)
        guard fit == .cover || fit == .contain else { return }
        canvas = PixelSize(width: box.width ?? scaled.width, height: box.height ?? scaled.height)
    }

    /// The divisors of the sides.
    private static func shrinks(of source: PixelSize, to box: Box, fit: Fit) -> (across: Double, down: Double) {
        let across = box.width.map { Double(source.width) / Double($0) }
        let down = box.height.map { Double(source.height) / Double($0) }
        switch (across, down) {
        case (nil, nil): return (1, 1)
        case (let only?, nil): return (only, fit == .fill ? 1 : only)
        case (nil, let only?): return (fit == .fill ? 1 : only, only)
        case (let across?, let down?):
            switch fit {
            case .fill: return (across, down)
            case .cover, .outside: return (min(across, down), min(across, down))
            case .inside, .contain: return (max(across, down), max(across, down))
            }
        }
    }

    /// Rounded half to even, as C's `rint` does.
    private static func side(_ length: Int, shrunkBy divisor: Double) -> Int {
        max(1, Int((Double(length) / divisor).rounded(.toNearestOrEven)))
    }
}
