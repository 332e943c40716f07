import DarkroomVips

/// A crop of the upright source by the rules of thumbor or Cloudflare: the part outside the image is left out, and a
/// rectangle without a part inside it changes nothing.
struct LooseCrop: Transform, Hashable, Codable {
    let crop: Crop
    /// Whether the last column and the last row are never kept, as imagor has it.
    let dropsLastPixel: Bool

    var key: String { "loose\(crop.key)\(dropsLastPixel ? "-" : "")" }

    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let plan = plan.requiringEveryPixel()
        return rectangle(in: plan.size).map { plan.changingSize(to: $0.size) } ?? plan
    }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try rectangle(in: image.size).map { rectangle throws(VipsError) in try image.extracting(rectangle) } ?? image
    }

    /// Nil if nothing is cropped.
    func rectangle(in image: PixelSize) -> (x: Int, y: Int, size: PixelSize)? {
        let (left, right) = span(crop.x, crop.width, of: image.width)
        let (top, bottom) = span(crop.y, crop.height, of: image.height)
        guard right > left, bottom > top else { return nil }
        return (left, top, PixelSize(width: right - left, height: bottom - top))
    }

    /// Two percentages round their two edges.
    private func span(_ start: Length, _ length: Length, of whole: Int) -> (start: Int, end: Int) {
        let first = max(start.resolved(in: whole), 0)
        let end =
            if case .percent(let skipped) = start, case .percent(let part) = length {
                Percentage(hundredths: skipped.hundredths + part.hundredths).of(whole)
            } else {
                first + length.resolved(in: whole)
            }
        return (first, min(end, dropsLastPixel ? whole - 1 : whole))
    }
}
