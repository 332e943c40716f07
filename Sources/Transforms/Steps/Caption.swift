public import DarkroomRequests
import DarkroomVips

extension Caption: DrawingTransform {
    public var key: String {
        let size =
            switch size {
            case .font(let pixels): "\(pixels)"
            case .letters(let pixels): "letters \(pixels)"
            }
        let face = face.words.joined(separator: " ")
        let wrapping = width.map { "\($0)" } ?? "-"
        // Beside the text, the mode could be a part of it.
        let name = blend == .over ? "caption" : "caption-\(blend.rawValue)"
        return "\(name)(\(x.key),\(y.key),\(size),\(color.hex),\(face),\(wrapping),\(text))"
    }

    public var cost: TransformCost {
        let scalars = text.unicodeScalars.count
        let area =
            switch size {
            case .font(let pixels): 2 * scalars * pixels * pixels
            case .letters(let pixels): 6 * scalars * pixels * pixels
            }
        let drawn = min(area, Self.maxArea)
        return TransformCost(
            nanosecondsPerPixel: 4, nanosecondsPerPixelWithAlpha: 15, nanosecondsPerFrame: 1e6 + 20 * Double(drawn),
            bytesPerPixel: 4, bytesPerPixelWithAlpha: 5, bytesPerFrame: 100_000 + 8 * Double(drawn))
    }

    /// The most pixels of a drawn text.
    private static let maxArea = 4 << 20

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        guard let ink = try drawn(on: image.size) else { return image }
        let corner = (
            x: x.position(of: ink.width, on: image.size.width), y: y.position(of: ink.height, on: image.size.height)
        )
        guard let visible = try ink.visible(at: corner, on: image.size) else { return image }
        return try image.drawing([visible], blend)
    }

    /// The text on transparency; nil if there is nothing to draw.
    private func drawn(on picture: PixelSize) throws -> VipsImage? {
        let pixels =
            switch size {
            case .font(let pixels), .letters(let pixels): pixels
            }
        let layout = VipsText(
            text, size: pixels, width: width.map { max($0.measured(in: picture.width), 1) },
            face: face.words.joined(separator: " "))
        let measure = try layout.measuredWithGlyphs()
        guard measure.width > 0, text.unicodeScalars.contains(where: \.hasInk) else { return nil }
        let ink = "#\(color.hex.prefix(6))"
        switch size {
        case .letters:
            return try layout.drawn(color: ink, filling: (Self.maxArea / 512, pixels))
                .fading(by: Double(color.alpha) / 255).rendered()
        case .font:
            guard measure.width * measure.height <= Self.maxArea else {
                throw TransformError(
                    parameter: "steps",
                    reason: "a text takes \(measure.width)×\(measure.height) pixels; ask for a smaller or a shorter one"
                )
            }
            return try layout.drawn(color: ink, alignment: x.edge == .center ? "centre" : "low")
                .fading(by: Double(color.alpha) / 255).rendered()
        }
    }
}

extension VipsImage {
    /// The part of a drawing that lies on an image, and where it lies; nil if it lies wholly outside.
    func visible(
        at corner: (x: Int, y: Int), on picture: PixelSize
    ) throws(VipsError) -> Overlay? {
        let (left, top) = (max(0, -corner.x), max(0, -corner.y))
        let part = PixelSize(
            width: min(width - left, picture.width - max(0, corner.x)),
            height: min(height - top, picture.height - max(0, corner.y)))
        guard part.width > 0, part.height > 0 else { return nil }
        return (part == size ? self : try extracting(x: left, y: top, size: part), max(0, corner.x), max(0, corner.y))
    }
}
