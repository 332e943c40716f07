import DarkroomRequests
import DarkroomVips

/// Reduces the first frame to a small copy on which a crop by content decides.
///
/// The size of the copy depends on the image alone. Asked about the results themselves, libvips chooses different parts
/// of one picture in different sizes.
struct Overview: Transform {
    /// The limits of the resize that the copy is made in place of; nil = none.
    var limits: ScaleDownLimits?

    /// What the copy's sides reach: details matter for a decision, and so do the few rows of a banner.
    private static let longerSide = 256.0
    private static let shorterSide = 64.0
    /// What no side exceeds: a drawing may be a thousand times as high as wide.
    private static let longestSide = 4096.0
    /// Processor time of reducing a decoded pixel.
    static let nanosecondsPerPixel = 5.0

    var key: String { "overview" }

    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let plan = limits.map { plan.reduced(to: $0.maxSourcePixels) } ?? plan
        let (longer, shorter) = (max(plan.size.width, plan.size.height), min(plan.size.width, plan.size.height))
        let reached = max(Self.longerSide / Double(longer), Self.shorterSide / Double(shorter))
        let factor = min(reached, Self.longestSide / Double(longer))
        let size = plan.size.scaled(by: plan.isVector ? factor : min(factor, 1))
        return plan.scaling(to: size, canvas: size, inLinearLight: false)
    }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let first = ImageFrames(frames: [image.first], extent: image.extent, orientation: image.orientation)
        let small = try first.resampled(to: context.plan.size)
        return try ColorConversion().apply(small, context: context)
    }
}

/// Makes the copy of an ``Overview`` when a step asks for it.
struct OverviewSource: Sendable {
    let image: @Sendable () throws -> VipsImage
}

extension TransformChain {
    /// The steps that make the copy on which a crop of this chain decides; nil if no crop depends on pixels.
    var overview: TransformChain? {
        guard let crop = transforms.firstIndex(where: { ($0 as? CoverCrop)?.position.dependsOnPixels ?? false }),
            let index = transforms[..<crop].lastIndex(where: { $0 is Resize }),
            let resize = transforms[index] as? Resize,
            transforms[(index + 1)..<crop].allSatisfy({ $0 is ColorConversion })
        else { return nil }
        // Steps about faces take no part: nothing of the copy is shown, and it decides only where no face does.
        let before = transforms[..<index].filter { !($0 is Redaction || $0 is FaceZoom) }
        return TransformChain(before + [Overview(limits: resize.limits)])
    }
}
