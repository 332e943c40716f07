public import DarkroomRequests
import DarkroomVips

extension Pixelate: Transform {
    public var key: String { "pixelate(\(block)\(keepsBlocksWhole ? ",whole" : ""))" }

    public var cost: TransformCost {
        TransformCost(nanosecondsPerPixel: 6, nanosecondsPerFrame: 0.7e6, bytesPerFrame: 20_000)
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        guard keepsBlocksWhole else { return plan }
        let (across, down) = cell(of: plan.size)
        return plan.requiringEveryPixel().changingSize(
            to: PixelSize(
                width: Self.whole(plan.size.width, by: across), height: Self.whole(plan.size.height, by: down)))
    }

    /// A length rounded to a multiple of a block's side.
    private static func whole(_ length: Int, by side: Int) -> Int { (2 * length + side) / (2 * side) * side }

    private func cell(of image: PixelSize) -> (across: Int, down: Int) {
        let side = max(block.measured(in: image.width), 1)
        return (min(side, image.width), min(side, image.height))
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let (across, down) = cell(of: image.size)
        guard across > 1 || down > 1 else { return image }
        return try image.mapFrames { frame throws(VipsError) in
            let means = try frame.premultiplying { colors throws(VipsError) in
                try colors.blockMeans(across: across, down: down, partial: !keepsBlocksWhole)
            }.roundedToBytes()
            // Rendered, because every strip of a row of blocks would compute the row again.
            return try means.rendered(interrupt: context.interrupt)
                .applying("zoom", ["xfac": .int(across), "yfac": .int(down)])
                .extracting(x: 0, y: 0, size: keepsBlocksWhole ? context.plan.size : image.size)
        }
    }
}

extension VipsImage {
    /// The mean color of each block.
    ///
    /// libvips' `shrink` reads row by row. A step before it that needs several rows for each, such as a convolution,
    /// would have all of them computed again for each row, so rows are computed in strips.
    ///
    /// - Parameter partial: whether blocks that the right or the lower edge cuts count too.
    func blockMeans(across: Int, down: Int, partial: Bool) throws(VipsError) -> VipsImage {
        try applying("linecache", ["tile_height": 64, "access": "sequential"])
            .applying("shrink", ["hshrink": .int(across), "vshrink": .int(down), "ceil": .bool(partial)])
    }
}
