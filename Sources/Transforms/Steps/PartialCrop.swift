import DarkroomVips

/// A transform that keeps the part of a rectangle within the image. A rectangle wholly outside changes nothing.
protocol PartialCropping: Transform {
    /// The part within the image; nil if it is empty.
    func rectangle(in image: PixelSize) -> (x: Int, y: Int, size: PixelSize)?
}

extension PartialCropping {
    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let plan = plan.requiringEveryPixel()
        return rectangle(in: plan.size).map { plan.changingSize(to: $0.size) } ?? plan
    }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try rectangle(in: image.size).map { rectangle throws(VipsError) in try image.extracting(rectangle) } ?? image
    }
}

/// Cuts a rectangle out of the image at its place in a list of steps, as imagor does.
struct Excerpt: PartialCropping, Hashable, Codable {
    let crop: Crop

    var key: String { "excerpt(\(crop.x),\(crop.y),\(crop.width),\(crop.height))" }

    func rectangle(in image: PixelSize) -> (x: Int, y: Int, size: PixelSize)? {
        let (left, top) = (crop.x.floored(in: image.width), crop.y.floored(in: image.height))
        let size = PixelSize(
            width: min(crop.width.floored(in: image.width), image.width - left),
            height: min(crop.height.floored(in: image.height), image.height - top))
        guard left >= 0, top >= 0, size.width > 0, size.height > 0 else { return nil }
        return (left, top, size)
    }
}

/// A crop of the upright source by the rules of thumbor or Cloudflare.
struct LooseCrop: PartialCropping, Hashable, Codable {
    let crop: Crop
    /// Whether the last column and the last row are never kept, as imagor has it.
    let dropsLastPixel: Bool

    var key: String { "loose\(crop.key)\(dropsLastPixel ? "-" : "")" }

    func rectangle(in image: PixelSize) -> (x: Int, y: Int, size: PixelSize)? {
        let (left, right) = span(crop.x, crop.width, of: image.width)
        let (top, bottom) = span(crop.y, crop.height, of: image.height)
        guard right > left, bottom > top else { return nil }
        return (left, top, PixelSize(width: right - left, height: bottom - top))
    }

    /// Two percentages round their two edges.
    private func span(_ start: Length, _ length: Length, of whole: Int) -> (start: Int, end: Int) {
        let first = max(start.measured(in: whole), 0)
        let end =
            if case .percent(let skipped) = start, case .percent(let part) = length {
                Percentage(hundredths: skipped.hundredths + part.hundredths).of(whole)
            } else {
                first + length.measured(in: whole)
            }
        return (first, min(end, dropsLastPixel ? whole - 1 : whole))
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
