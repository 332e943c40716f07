/// The box that an image is fitted to. A single side determines the other by the image's aspect ratio.
public struct Box: Hashable, Codable, Sendable {
    /// At least 1 pixel; nil = follows from the height.
    public var horizontal: Length?
    /// At least 1 pixel; nil = follows from the width.
    public var vertical: Length?
    /// The ratio of the box's sides, which gives the side that is nil; if both are, the box is the largest within the
    /// image, or the smallest around it for `contain`. It has no effect on a box with two sides.
    public var ratio: AspectRatio?
    /// Whether width and height are exchanged if that makes the result larger: for an upright image in a wide box, or
    /// a wide image in an upright box. It has no effect on a box with one side.
    public var swapsSides = false
    /// The least width of the result in pixels. A smaller result is enlarged with its aspect ratio, even without
    /// `Recipe.enlarge`. The parts that then exceed the box are cropped.
    public var minWidth: Int?
    /// The least height of the result in pixels; see ``minWidth``.
    public var minHeight: Int?

    /// A box of these sides in pixels; without any side, the image is not scaled.
    public init(width: Int?, height: Int?) {
        self.init(horizontal: width.map(Length.pixels), vertical: height.map(Length.pixels))
    }

    /// A box of these sides, ratio and least sizes.
    public init(
        horizontal: Length?, vertical: Length?, ratio: AspectRatio? = nil, minWidth: Int? = nil, minHeight: Int? = nil
    ) {
        self.horizontal = horizontal
        self.vertical = vertical
        self.ratio = ratio
        self.minWidth = minWidth
        self.minHeight = minHeight
    }

    /// The width in pixels, if it is given in pixels.
    public var width: Int? {
        get { horizontal?.pixels }
        set { horizontal = newValue.map(Length.pixels) }
    }

    /// The height in pixels, if it is given in pixels.
    public var height: Int? {
        get { vertical?.pixels }
        set { vertical = newValue.map(Length.pixels) }
    }

    /// Both sides, if both are given in pixels.
    public var size: PixelSize? {
        guard let width, let height else { return nil }
        return PixelSize(width: width, height: height)
    }

    public var hasSide: Bool { horizontal != nil || vertical != nil }
    /// Whether the box has two sides, given or by its ratio.
    public var isTwoSided: Bool { ratio != nil || horizontal != nil && vertical != nil }
    /// Whether a least size is given.
    public var hasMinimum: Bool { minWidth != nil || minHeight != nil }
    /// Whether the box is empty, so that the image is not scaled.
    public var isEmpty: Bool { !hasSide && ratio == nil && !hasMinimum }

    /// Whether the box is known without the image.
    package var isFixed: Bool {
        let isAbsolute = (horizontal == nil || width != nil) && (vertical == nil || height != nil)
        return isAbsolute && ratio == nil && !hasMinimum && !swapsSides
    }

    /// Whether a result of this fit may have to be cropped to the box.
    package func crops(_ fit: Fit) -> Bool {
        if fit == .cover && isTwoSided { return true }
        return hasMinimum && hasSide && (fit == .inside || !isTwoSided)
    }

    /// The box for an image of this size: sides in pixels and no ratio. A box below its least size grows to it.
    package func measured(in image: PixelSize, for fit: Fit) -> Box {
        guard !isFixed else { return self }
        var box = Box(horizontal: nil, vertical: nil, minWidth: minWidth, minHeight: minHeight)
        box.width = horizontal.map { max(1, $0.measured(in: image.width)) }
        box.height = vertical.map { max(1, $0.measured(in: image.height)) }
        if let ratio {
            switch (box.width, box.height) {
            case (nil, nil):
                let size = fit == .contain ? ratio.smallest(around: image) : ratio.largest(within: image)
                (box.width, box.height) = (size.width, size.height)
            case (let width?, nil): box.height = ratio.height(forWidth: width)
            case (nil, let height?): box.width = ratio.width(forHeight: height)
            case (_?, _?): break
            }
        }
        if swapsSides, let size = box.size, (image.width > image.height) != (size.width > size.height) {
            (box.width, box.height) = (size.height, size.width)
        }
        return box.grown(keeping: ratio)
    }

    /// The box at least as large as its least size; two sides keep their ratio.
    private func grown(keeping ratio: AspectRatio?) -> Box {
        let least = PixelSize(width: minWidth ?? 1, height: minHeight ?? 1)
        var box = self
        guard let size, size.factor(toCover: least) > 1 else {
            if size == nil {
                box.width = width.map { max($0, least.width) }
                box.height = height.map { max($0, least.height) }
            }
            return box
        }
        let factor = size.factor(toCover: least)
        let covering = ratio?.smallest(around: least) ?? size.scaled(by: factor).united(with: least)
        (box.width, box.height) = (covering.width, covering.height)
        return box
    }
}

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

/// The trade-off between speed and quality when pixels are resampled.
public enum Resampling: String, Codable, Sendable, CaseIterable {
    /// The decoder delivers at least 1.3 times the target size on each side: with less, edges become uneven. Opaque
    /// photographs are resampled in linear light.
    case fast
    /// The decoder delivers at least twice the target size on each side. Samples are averaged as they are stored, as
    /// in browsers.
    case accurate
    /// The decoder delivers at least twice the target size on each side. Everything is resampled in linear light.
    case linear

    /// How many times the target size the decoder delivers at least on each side.
    public var headroom: Double { self == .fast ? 1.3 : 2 }
}

/// A ratio of width to height in lowest terms. Equal ratios are equal values.
public struct AspectRatio: Hashable, Codable, Sendable, CustomStringConvertible {
    /// At least 1.
    public let width: Int
    /// At least 1.
    public let height: Int

    /// A ratio of these numbers; a number below 1 counts as 1.
    public init(width: Int, height: Int) {
        let (width, height) = (max(width, 1), max(height, 1))
        var (divisor, rest) = (width, height)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        self.width = width / divisor
        self.height = height / divisor
    }

    public var description: String { "\(width):\(height)" }

    /// The height that goes with a width in pixels, rounded to the nearest pixel and at least 1.
    public func height(forWidth side: Int) -> Int { Self.scaled(side, height, by: width) }

    /// The width that goes with a height in pixels, rounded to the nearest pixel and at least 1.
    public func width(forHeight side: Int) -> Int { Self.scaled(side, width, by: height) }

    package func largest(within image: PixelSize) -> PixelSize {
        let down = height(forWidth: image.width)
        guard down > image.height else { return PixelSize(width: image.width, height: down) }
        return PixelSize(width: min(width(forHeight: image.height), image.width), height: image.height)
    }

    /// The smallest rectangle of this ratio that contains an image.
    package func smallest(around image: PixelSize) -> PixelSize {
        let down = height(forWidth: image.width)
        guard down < image.height else { return PixelSize(width: image.width, height: down) }
        return PixelSize(width: max(width(forHeight: image.height), image.width), height: image.height)
    }

    private static func scaled(_ side: Int, _ factor: Int, by divisor: Int) -> Int {
        PixelSize.side(Double(side) * Double(factor) / Double(divisor))
    }
}
