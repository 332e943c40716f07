public import DarkroomRequests

/// The sizes in a resize of one image: the size that it is scaled to, and the canvas that it is then cropped (`cover`)
/// or extended (`contain`) to.
public struct ResizeGeometry: Hashable, Sendable {
    /// The size that the image is scaled to.
    public var scaled: PixelSize
    /// The size of the result.
    public var canvas: PixelSize

    /// Computes the sizes. Sides are rounded to the nearest pixel and are at least 1.
    ///
    /// Without `enlarge`, `inside` and `outside` stop at the source's size, `cover` and `fill` use the largest box of
    /// the same aspect ratio within the source, and `contain` keeps the canvas and leaves the image at its own size. A
    /// result below the box's least size is enlarged in any case, and cropped where it then exceeds the box.
    public init(source: PixelSize, box: Box, fit: Fit, enlarge: Bool) {
        let box = box.measured(in: source, for: fit)
        self.init(source: source, pixels: box, fit: fit, enlarge: enlarge)
        if box.hasMinimum { grow(from: source, to: box, fit: fit) }
    }

    private init(source: PixelSize, pixels box: Box, fit: Fit, enlarge: Bool) {
        let across = box.width.map { Double($0) / Double(source.width) }
        let down = box.height.map { Double($0) / Double(source.height) }
        let cap = enlarge ? Double.infinity : 1
        guard let across, let down, let box = box.size else {
            self.init(scaled: (across ?? down).map { source.scaled(by: min($0, cap)) } ?? source)
            return
        }
        switch fit {
        case .inside:
            self.init(scaled: source.scaled(by: min(across, down, cap)))
        case .outside:
            self.init(scaled: source.scaled(by: min(max(across, down), cap)))
        case .contain:
            self.init(scaled: source.scaled(by: min(across, down, cap)), canvas: box)
        case .fill:
            self.init(scaled: Self.shrunkInto(source, box: box, enlarge: enlarge))
        case .cover:
            let canvas = Self.shrunkInto(source, box: box, enlarge: enlarge)
            self.init(scaled: Self.cover(canvas, with: source), canvas: canvas)
        }
    }

    init(scaled: PixelSize, canvas: PixelSize? = nil) {
        self.scaled = scaled
        self.canvas = canvas ?? scaled
    }

    /// Enlarges to the least size of a box: `cover` keeps the box's aspect ratio, `inside` stays within the box.
    private mutating func grow(from source: PixelSize, to box: Box, fit: Fit) {
        let least = PixelSize(width: box.minWidth ?? 1, height: box.minHeight ?? 1)
        guard canvas.factor(toCover: least) > 1 else { return }
        if let size = box.size, fit == .cover || fit == .fill {
            canvas = size.scaled(by: size.factor(toCover: least)).united(with: least)
            scaled = fit == .fill ? canvas : Self.cover(canvas, with: source)
            return
        }
        scaled = Self.cover(least, with: source)
        canvas = scaled
        guard fit == .inside || box.size == nil else { return }
        canvas = PixelSize(
            width: min(scaled.width, box.width ?? .max), height: min(scaled.height, box.height ?? .max))
    }

    /// The sizes for a result within these limits.
    func fitted(to limits: ScaleDownLimits) -> ResizeGeometry {
        var fitted = self
        guard canvas.width < scaled.width || canvas.height < scaled.height else {
            fitted.scaled = limits.fitted(scaled)
            if canvas == scaled { fitted.canvas = fitted.scaled }
            return fitted
        }
        fitted.canvas = limits.fitted(canvas)
        guard fitted.canvas != canvas else { return self }
        let factor = canvas.factor(toCover: fitted.canvas)
        fitted.scaled = scaled.scaled(by: factor).united(with: fitted.canvas)
        return fitted
    }

    /// The box, shrunk at its own aspect ratio until the source covers it.
    private static func shrunkInto(_ source: PixelSize, box: PixelSize, enlarge: Bool) -> PixelSize {
        if enlarge { return box }
        return box.scaled(by: min(1, box.factor(toFit: source)))
    }

    /// The smallest size of the image that covers a canvas.
    private static func cover(_ canvas: PixelSize, with source: PixelSize) -> PixelSize {
        source.scaled(by: source.factor(toCover: canvas)).united(with: canvas)
    }
}
