/// How an image fits its box, in the terms of CSS `object-fit` and sharp.
public enum Fit: String, Codable, Sendable, CaseIterable {
    /// As large as possible within the box.
    case inside
    /// As small as possible while covering the box; nothing is cropped.
    case outside
    /// Covers the box; the overhang is cropped.
    case cover
    /// Within the box, then extended to the box's exact size.
    case contain
    /// Stretched to the box.
    case fill
}

/// A box in device pixels. With one side only, the other follows from the image's aspect ratio.
public struct Box: Hashable, Codable, Sendable {
    /// In pixels, at least 1; nil = follows from the height.
    public var width: Int?
    /// In pixels, at least 1; nil = follows from the width.
    public var height: Int?

    /// A box of these sides; without any side, nothing is scaled.
    public init(width: Int?, height: Int?) {
        self.width = width
        self.height = height
    }

    /// Both sides, if both are given.
    public var size: PixelSize? {
        guard let width, let height else { return nil }
        return PixelSize(width: width, height: height)
    }
}

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
    /// the same aspect ratio within the source, and `contain` keeps the canvas and leaves the image at its own size.
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

    /// The box, shrunk at its own aspect ratio until the source covers it.
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
