/// How a picture fills its box, in the words of CSS `object-fit` and of sharp.
public enum Fit: String, Codable, Sendable, CaseIterable {
    /// As large as possible within the box.
    case inside
    /// As small as possible while covering the box; nothing is cut.
    case outside
    /// Covers the box, what hangs over is cut.
    case cover
    /// Within the box, which is then filled up to its exact size.
    case contain
    /// Stretched to the box.
    case fill
}

/// A box in device pixels; one side alone leaves the other to the picture's aspect ratio.
public struct Box: Hashable, Codable, Sendable {
    /// In pixels, 1 or more; nil = as the height gives.
    public var width: Int?
    /// In pixels, 1 or more; nil = as the width gives.
    public var height: Int?

    /// A box of these sides; without any, nothing is scaled.
    public init(width: Int?, height: Int?) {
        self.width = width
        self.height = height
    }

    /// Both sides, where both are given.
    public var size: PixelSize? {
        guard let width, let height else { return nil }
        return PixelSize(width: width, height: height)
    }
}

/// What a resize comes to for one picture: the size it is scaled to, and the size of the canvas that is then cut
/// (`cover`) or filled (`contain`).
public struct ResizeGeometry: Hashable, Sendable {
    /// What the picture is scaled to.
    public var scaled: PixelSize
    /// The size of the result.
    public var canvas: PixelSize

    /// Pure arithmetic: sides are rounded to the nearest pixel and never fall below one.
    ///
    /// Without `enlarge`, `inside` and `outside` stop at the source's size, `cover` and `fill` keep the box's aspect
    /// ratio inside the source's size, `contain` keeps the canvas and leaves the picture at its own size.
    public init(source: PixelSize, box: Box, fit: Fit, enlarge: Bool) {
        let across = box.width.map { Double($0) / Double(source.width) }
        let down = box.height.map { Double($0) / Double(source.height) }
        switch (across, down) {
        case (nil, nil):
            self.init(scaled: source)
        case (let only?, nil), (nil, let only?):
            self.init(scaled: Self.scale(source, by: enlarge ? only : min(1, only)))
        case (let across?, let down?):
            let box = PixelSize(width: box.width ?? source.width, height: box.height ?? source.height)
            self.init(source: source, box: box, fit: fit, across: across, down: down, enlarge: enlarge)
        }
    }

    private init(source: PixelSize, box: PixelSize, fit: Fit, across: Double, down: Double, enlarge: Bool) {
        let cap = enlarge ? Double.infinity : 1
        switch fit {
        case .inside:
            self.init(scaled: Self.scale(source, by: min(across, down, cap)))
        case .outside:
            self.init(scaled: Self.scale(source, by: min(max(across, down), cap)))
        case .contain:
            self.init(scaled: Self.scale(source, by: min(across, down, cap)), canvas: box)
        case .fill:
            self.init(scaled: Self.shrunkInto(source, box: box, enlarge: enlarge))
        case .cover:
            let canvas = Self.shrunkInto(source, box: box, enlarge: enlarge)
            let factor = max(
                Double(canvas.width) / Double(source.width), Double(canvas.height) / Double(source.height))
            let scaled = Self.scale(source, by: factor)
            self.init(
                scaled: PixelSize(
                    width: max(scaled.width, canvas.width), height: max(scaled.height, canvas.height)),
                canvas: canvas)
        }
    }

    private init(scaled: PixelSize, canvas: PixelSize? = nil) {
        self.scaled = scaled
        self.canvas = canvas ?? scaled
    }

    /// The box, made smaller at its own aspect ratio until the source covers it.
    private static func shrunkInto(_ source: PixelSize, box: PixelSize, enlarge: Bool) -> PixelSize {
        if enlarge { return box }
        let room = min(Double(source.width) / Double(box.width), Double(source.height) / Double(box.height))
        return scale(box, by: min(1, room))
    }

    private static func scale(_ size: PixelSize, by factor: Double) -> PixelSize {
        func side(_ length: Int) -> Int { max(1, Int((Double(length) * factor).rounded())) }
        return PixelSize(width: side(size.width), height: side(size.height))
    }
}
