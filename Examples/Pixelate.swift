import Darkroom

struct Pixelate: Transform {
    var block: Int
    var key: String { "pixelate(\(block))" }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mapFrames { frame throws(VipsError) in
            try frame.applying("shrink", ["hshrink": .int(block), "vshrink": .int(block)])
                .applying("zoom", ["xfac": .int(block), "yfac": .int(block)])
        }
    }
}

struct PixelateEverything: ImagePipelineDelegate {
    func transforms(_ chain: TransformChain, for request: ImageRequest) -> TransformChain {
        TransformChain(chain.transforms + [Pixelate(block: 8)])
    }
}
