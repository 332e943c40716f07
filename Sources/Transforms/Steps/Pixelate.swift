import DarkroomVips

/// Replaces blocks of pixels by their mean color (libvips `shrink`, `zoom`).
public struct Pixelate: Transform, Hashable, Codable {
    /// The accepted sides of a block, in pixels of the result.
    public static let pixels = 2...1000
    /// The accepted sides of a block, in percent of the result's width.
    public static let percents = 0.1...100.0

    /// The side of a block, in `pixels` or `percents`. Blocks begin at the upper left corner.
    public var block: Length

    /// Blocks of this side.
    public init(block: Length) {
        self.block = block
    }

    public var key: String { "pixelate(\(block))" }

    public var cost: TransformCost {
        TransformCost(nanosecondsPerPixel: 3, nanosecondsPerFrame: 0.7e6, bytesPerFrame: 20_000)
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let side = block.resolved(in: image.size.width)
        let (across, down) = (min(side, image.size.width), min(side, image.size.height))
        guard side > 1 else { return image }
        return try image.mapFrames { frame throws(VipsError) in
            let means = try frame.premultiplying { colors throws(VipsError) in
                try colors.applying("shrink", ["hshrink": .int(across), "vshrink": .int(down), "ceil": true])
            }.roundedToBytes()
            // Rendered, because every strip of a row of blocks would compute the row again.
            return try means.rendered(interrupt: context.interrupt)
                .applying("zoom", ["xfac": .int(across), "yfac": .int(down)])
                .extracting(x: 0, y: 0, size: image.size)
        }
    }
}
