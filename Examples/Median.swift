import Darkroom

struct Median: Transform {
    var side: Int
    var key: String { "median(\(side))" }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mapFrames { frame throws(VipsError) in
            try frame.applying(
                "rank", ["width": .int(side), "height": .int(side), "index": .int(side * side / 2)])
        }
    }
}

struct MedianEverywhere: ImagePipelineDelegate {
    func transforms(_ chain: TransformChain, for request: ImageRequest) -> TransformChain {
        TransformChain(chain.transforms + [Median(side: 5)])
    }
}
