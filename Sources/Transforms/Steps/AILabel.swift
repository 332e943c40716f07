public import DarkroomRequests
import DarkroomVips
import NIOCore

extension AILabel: DrawingTransform {
    /// Nil if the recipe labels no images.
    init?(_ recipe: Recipe) {
        guard recipe.aiLabel != .none else { return nil }
        self.init(recipe.aiLabel)
    }

    public var key: String { "ai-label(\(place.rawValue))" }

    public var cost: TransformCost {
        TransformCost(
            nanosecondsPerPixel: 4, nanosecondsPerPixelWithAlpha: 15, nanosecondsPerFrame: 3e6, bytesPerPixel: 4,
            bytesPerPixelWithAlpha: 5, bytesPerFrame: 400_000)
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan.requiringEveryPixel() }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        guard let type = ImageRights(of: image.first).digitalSourceType, Self.isModel(type) else { return image }
        let height = max(Self.leastHeight, min(image.size.width, image.size.height) / 12)
        let (size, margin) = (PixelSize(width: 2 * height, height: height), height / 2)
        let room = PixelSize(width: image.size.width - 2 * margin, height: image.size.height - 2 * margin)
        guard room.width >= size.width, room.height >= size.height,
            let drawn = try MarkSource(ByteBuffer(string: Self.drawing), limits: PixelLimits())
                .images(1, scaledTo: size, interrupt: context.interrupt).first
        else { return image }
        let x = place == .topLeft || place == .bottomLeft ? margin : image.size.width - margin - size.width
        let y = place == .topLeft || place == .topRight ? margin : image.size.height - margin - size.height
        return try image.drawing([(drawn.asInk(interrupt: context.interrupt), x, y)])
    }

    private static let leastHeight = 12

    /// Whether a term of IPTC's vocabulary of digital source types, as a URI or with a prefix, means that.
    private static func isModel(_ type: String) -> Bool {
        type.split { $0 == "/" || $0 == ":" }.last.map { terms.contains(String($0)) } ?? false
    }

    private static let terms: Set = [
        "trainedAlgorithmicMedia", "compositeWithTrainedAlgorithmicMedia", "compositeSynthetic", "algorithmicMedia",
    ]

    /// The letters are lines, so that no fonts are needed. They can be read on any background.
    private static let drawing = """
        <svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" viewBox="0 0 40 20">\
        <rect width="40" height="20" rx="4" fill="#000" fill-opacity="0.7"/>\
        <path d="M11 15L15.5 5L20 15M12.5 12H18.5M27 5V15" fill="none" stroke="#fff" stroke-width="2"/></svg>
        """
}
