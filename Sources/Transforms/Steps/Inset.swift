public import DarkroomRequests

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
