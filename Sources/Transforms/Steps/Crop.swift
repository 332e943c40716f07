public import DarkroomRequests

extension Crop: Transform {
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

extension Inset: Transform {
    public var key: String { "inset(\(sides.top),\(sides.right),\(sides.bottom),\(sides.left))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.requiringEveryPixel().changingSize(to: try rest(of: plan.size))
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.extracting((sides.left, sides.top, rest(of: image.size)))
    }

    private func rest(of image: PixelSize) throws(TransformError) -> PixelSize {
        let rest = sides.within(image)
        guard rest.width > 0, rest.height > 0 else {
            throw TransformError(
                parameter: "inset", reason: "it leaves nothing of the upright source, which is \(image) pixels")
        }
        return rest
    }
}
