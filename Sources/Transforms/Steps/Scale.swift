public import DarkroomRequests
import DarkroomVips

extension Scale: Transform {
    public var key: String { "scale(\(part))" }

    public var cost: TransformCost {
        TransformCost(
            nanosecondsPerPixel: 30, nanosecondsPerPixelWithAlpha: 90, nanosecondsPerFrame: 1e6, bytesPerPixel: 1,
            bytesPerPixelWithAlpha: 4, bytesPerFrame: 100_000)
    }

    public var reading: InputReading { .repeatedly }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.requiringEveryPixel().changingSize(to: size(of: plan.size))
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let target = size(of: image.size)
        guard target != image.size else { return image }
        return try image.mapFrames { frame throws(VipsError) in
            try frame.resampled(to: target)
        }
    }

    /// The largest size of the image's shape within its sides times the part; its own size if that leaves nothing.
    private func size(of image: PixelSize) -> PixelSize {
        let box = PixelSize(
            width: image.width * part.hundredths / 10_000, height: image.height * part.hundredths / 10_000)
        guard box.width > 0, box.height > 0 else { return image }
        return ResizeGeometry.thumbnail(of: image, within: box)
    }
}
