import DarkroomRequests
import DarkroomVips
import NIOCore

@testable import DarkroomTransforms

extension Recipe {
    static func with(_ change: (inout Recipe) -> Void) -> Recipe {
        var recipe = Recipe()
        change(&recipe)
        return recipe
    }

    static func box(
        _ width: Int?, _ height: Int? = nil, fit: Fit = .inside, enlarge: Bool = false,
        as resampling: Resampling = .fast
    ) -> Recipe {
        var recipe = Recipe(resampling: resampling)
        recipe.box = Box(width: width, height: height)
        recipe.fit = fit
        recipe.enlarge = enlarge
        return recipe
    }
}

/// Runs a job as the service does, by default with lossless PNG output.
func produce(
    _ source: ByteBuffer, _ recipe: Recipe = Recipe(), output: OutputOptions = OutputOptions(format: .png),
    pages: PageSelection = PageSelection(), limits: PixelLimits = PixelLimits()
) throws(ImageProcessingError) -> ProcessedImage {
    let job = ImageJob(
        source: source, pages: pages, chain: TransformChain(recipe, limits: limits), resampling: recipe.resampling,
        output: output,
        limits: limits)
    return try InProcessImageProcessor().process(job, interrupt: { false })
}

/// The pixels of an image after one transform.
func apply(_ transform: any Transform, to image: VipsImage) throws -> Pixels {
    let image = ImageFrames(frames: [image])
    let plan = try transform.planned(ChainPlan(source: image.size))
    return try transform.apply(image, context: TransformContext(plan: plan, interrupt: { false })).first.asPixels()
}
