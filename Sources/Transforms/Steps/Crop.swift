/// Crops a rectangle of the image (libvips `extract_area`).
public struct Crop: Transform, Hashable, Codable {
    /// How percentages become pixels, and what happens to a rectangle that does not lie within the image.
    enum Rule: String, Codable {
        /// Two percentages round their two edges, so that they stay within the image if their sum is at most 100 %.
        /// Other rectangles are refused if they do not lie within the image.
        case strict = "crop"
        /// What exceeds the image is left out, and a corner outside means the upper left corner.
        case cut
        /// Lengths are rounded down. What exceeds the image is left out, and a rectangle outside changes nothing.
        case excerpt
        /// Two percentages round their two edges. Otherwise like ``excerpt``.
        case loose = "loosecrop"
    }

    /// The distance from the left edge of the image, at least 0.
    public var x: Length
    /// The distance from the upper edge of the image, at least 0.
    public var y: Length
    /// At least 1 pixel.
    public var width: Length
    /// At least 1 pixel.
    public var height: Length
    private var rule = Rule.strict
    /// Whether a loose crop never keeps the last column and the last row of the image.
    private var dropsLastPixel = false

    /// A rectangle in pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.init(x: .pixels(x), y: .pixels(y), width: .pixels(width), height: .pixels(height))
    }

    /// A rectangle of an image whose width and height are 100 %.
    public init(x: Length, y: Length, width: Length, height: Length) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The same rectangle by another rule.
    func with(_ rule: Rule, droppingLastPixel: Bool = false) -> Crop {
        var crop = self
        (crop.rule, crop.dropsLastPixel) = (rule, droppingLastPixel)
        return crop
    }

    public var key: String { "\(rule.rawValue)(\(text))\(dropsLastPixel ? "-" : "")" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.requiringEveryPixel().changingSize(to: try rectangle(in: plan.size).size)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.extracting(rectangle(in: image.size))
    }

    private var text: String { "\(x),\(y),\(width),\(height)" }

    /// The part of an image that is kept. Throws if a strict crop does not lie within the image.
    func rectangle(in image: PixelSize) throws(TransformError) -> (x: Int, y: Int, size: PixelSize) {
        guard let across = span(x, width, of: image.width), let down = span(y, height, of: image.height) else {
            guard rule == .strict else { return (0, 0, image) }
            throw TransformError(
                parameter: "crop",
                reason: "\(text) does not lie within the upright source, which is \(image) pixels")
        }
        return (across.lowerBound, down.lowerBound, PixelSize(width: across.count, height: down.count))
    }

    /// The part of a side that is kept; nil if there is none.
    private func span(_ start: Length, _ length: Length, of whole: Int) -> Range<Int>? {
        var (first, count) = (start.measured(in: whole), length.measured(in: whole))
        let sum: Percentage? =
            if case .percent(let skipped) = start, case .percent(let part) = length {
                Percentage(hundredths: skipped.hundredths + part.hundredths)
            } else { nil }
        switch rule {
        case .strict:
            if case .percent = length { count = max(1, count) }
            if let sum {
                guard sum.hundredths <= 10_000 else { return nil }
                first = min(first, whole - 1)
                count = max(1, sum.of(whole) - first)
            }
            guard first >= 0, count >= 1, first <= whole - count else { return nil }
        case .cut:
            if !(0..<whole).contains(first) { first = 0 }
            if !(1...(whole - first)).contains(count) { count = whole - first }
        case .excerpt:
            first = start.floored(in: whole)
            count = min(length.floored(in: whole), whole - first)
        case .loose:
            first = max(first, 0)
            count = min(sum?.of(whole) ?? first + count, dropsLastPixel ? whole - 1 : whole) - first
        }
        return first >= 0 && count >= 1 ? first..<(first + count) : nil
    }
}

extension Length {
    /// In pixels, rounded down, where 100 % is `whole`.
    fileprivate func floored(in whole: Int) -> Int {
        switch self {
        case .pixels(let count): count
        case .percent(let part): whole * part.hundredths / 10_000
        }
    }
}
