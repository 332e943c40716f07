import DarkroomVips

/// How a step reads the image before it.
///
/// Images are lazy: libvips computes each region that a step reads by all earlier steps, and again for each reading.
public enum InputReading: Hashable, Sendable {
    /// Each row about once, in order.
    case once
    /// Out of order, or rows several times: the image before it is computed once and held in memory.
    case repeatedly
    /// Color and alpha separately. An image with alpha before it is computed once and held in memory, unless the step
    /// before has separated it already.
    case colorApart
}

/// Computes the image, for something after the chain that reads rows several times.
struct Rendering: Transform, Hashable {
    var key: String { "rendering" }
    var reading: InputReading { .repeatedly }

    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames { image }
}

extension InputReading {
    /// The image as a step with this reading gets it.
    func prepared(_ image: ImageFrames, interrupt: @escaping Interrupt) throws(ImageProcessingError) -> ImageFrames {
        let needsPixels =
            switch self {
            case .once: false
            case .repeatedly: true
            case .colorApart: image.first.hasAlpha && !image.first.isJoined
            }
        guard needsPixels else { return image }
        do {
            return try image.mapFrames { frame throws(VipsError) in try frame.rendered(interrupt: interrupt) }
        } catch {
            throw interrupt() ? .interrupted : .transformFailed(error.description)
        }
    }
}

extension TransformCost {
    /// The cost of holding the image before a step that reads it like this.
    static func rendering(for reading: InputReading) -> TransformCost {
        switch reading {
        case .once: .none
        case .repeatedly: TransformCost(nanosecondsPerPixel: 1, bytesPerPixel: 3, bytesPerPixelWithAlpha: 4)
        case .colorApart: TransformCost(bytesPerPixelWithAlpha: 4)
        }
    }
}
