public import DarkroomRequests
import DarkroomVips

/// The transforms of one request, in order.
public struct TransformChain: Sendable {
    /// The steps, first to last. Changing them clears ``recipe``.
    public var transforms: [any Transform] {
        didSet {
            origin = nil
            key = Self.key(of: transforms)
        }
    }
    /// The keys of all steps, each prefixed by its length so that no two chains share a key.
    public private(set) var key: String
    /// The recipe and the limits of the chain.
    private var origin: Origin?

    private struct Origin: Codable {
        let recipe: Recipe
        let limits: PixelLimits
    }

    /// The recipe of the chain; nil for a chain that other code assembled or changed.
    public var recipe: Recipe? { origin?.recipe }

    /// A chain of these steps in this order; with none, pixels stay as they are decoded.
    public init(_ transforms: [any Transform] = []) {
        self.transforms = transforms
        key = Self.key(of: transforms)
    }

    /// The steps of a recipe in their fixed order. Steps that would change nothing are left out, so that recipes for
    /// the same result make equal chains.
    ///
    /// - Parameter limits: the limits that `Recipe.scaleDown` scales down to; they have no effect without it. Pass the
    ///   limits of the ``ImageJob``.
    public init(_ recipe: Recipe, limits: PixelLimits = PixelLimits()) {
        transforms = recipe.steps(within: limits)
        key = Self.key(of: transforms)
        origin = Origin(recipe: recipe, limits: limits)
    }

    private static func key(of transforms: [any Transform]) -> String {
        var text = ""
        for transform in transforms {
            let key = transform.key
            text += "\(key.utf8.count):"
            text += key
        }
        return text
    }

    /// The cost of all steps, for each pixel of the last step's raster. A step computes the larger of the rasters
    /// before and after it; the first of `sizes` is the decoded raster. `alphas` says which of them have alpha; by
    /// default none has. `conversion` is the cost of ``ColorConversion``.
    ///
    /// Times add up. Memory does not: once an image between two steps has been computed, the steps before it are gone.
    func cost(
        at sizes: [PixelSize], alphas: [Bool] = [], converting conversion: TransformCost = .none
    ) -> TransformCost {
        let last = Double(max(sizes.last?.area ?? 1, 1))
        var before: (any Transform)?
        var sum = TransformCost.none
        var (opaque, translucent) = (HeldBytes(), HeldBytes())
        for (index, (transform, (size, next))) in zip(transforms, zip(sizes, sizes.dropFirst())).enumerated() {
            // The decoded image is in memory already, unless it has been transposed.
            let isDecoded = before.map { $0 is Orient && size == sizes[0] } ?? true
            let rendering = (isDecoded ? .none : Self.rendering(for: transform, after: before))
                .times(Double(size.area) / last)
            var cost = (transform is ColorConversion ? conversion + transform.cost : transform.cost)
                .times(Double(max(size.area, next.area)) / last)
            cost.nanosecondsPerPixel += cost.nanosecondsPerAddedPixel * Double(max(0, next.area - size.area)) / last
            // An earlier step has added the alpha channel.
            if alphas.dropFirst(index).first == true { cost.nanosecondsPerPixel = cost.nanosecondsPerPixelWithAlpha }
            opaque.add(cost.bytesPerPixel, rendering: rendering.bytesPerPixel)
            translucent.add(cost.bytesPerPixelWithAlpha, rendering: rendering.bytesPerPixelWithAlpha)
            sum = sum + rendering + cost
            sum.change = max(sum.change, PixelChange(transform, keepsSize: next == size))
            before = transform
        }
        (sum.bytesPerPixel, sum.bytesPerPixelWithAlpha) = (opaque.most, translucent.most)
        return sum
    }

    /// The bytes for each pixel that steps hold at the same time.
    private struct HeldBytes {
        /// Before the last computed image, and from it on.
        private var (before, since) = (0.0, 0.0)
        private(set) var most = 0.0

        /// - Parameter rendering: the bytes of the image that is computed before the step; 0 = none is.
        mutating func add(_ bytes: Double, rendering: Double) {
            if rendering > 0 { (before, since) = (since, rendering) }
            since += bytes
            most = max(most, before + since)
        }
    }

    /// The cost of computing the image between two steps.
    private static func rendering(for transform: any Transform, after before: (any Transform)?) -> TransformCost {
        // A step that separates color and alpha leaves them separate.
        if transform.reading == .colorApart, before?.reading == .colorApart { return .none }
        return .rendering(for: transform.reading)
    }

    /// The color space of the result.
    var gamut: Gamut { transforms.lazy.compactMap { $0 as? ColorConversion }.first?.gamut ?? .sRGB }

    /// The bits of a sample of the result.
    var depth: SampleDepth { transforms.lazy.compactMap { $0 as? ColorConversion }.first?.depth ?? .eight }

    /// The chain with a result of 8 bits.
    var inEightBits: TransformChain { depth == .eight ? self : with(transforms.inEightBits) }

    /// The chain with a result in sRGB.
    var inSRGB: TransformChain { gamut == .sRGB ? self : with(transforms.inSRGB) }

    /// The chain with other steps for the same request.
    private func with(_ transforms: [any Transform]) -> TransformChain {
        var chain = self
        chain.transforms = transforms
        chain.origin = origin
        return chain
    }

    /// The hash that the source must have; nil = any.
    var digest: SourceDigest? { transforms.lazy.compactMap { $0 as? SourceDigest }.first }
    /// The steps that draw another image.
    var drawings: [any ImageDrawing] { transforms.compactMap { $0 as? any ImageDrawing } }

    /// Whether the first step applies the source's own orientation.
    var startsWithAutoOrientation: Bool { (transforms.first as? Orient)?.rule == .auto }

    /// The plan after the last step.
    public func plan(_ start: ChainPlan) throws(TransformError) -> ChainPlan {
        try plans(start).last ?? start
    }

    /// The plan after each step.
    func plans(_ start: ChainPlan) throws(TransformError) -> [ChainPlan] {
        var plan = start
        var plans: [ChainPlan] = []
        plans.reserveCapacity(transforms.count)
        for transform in transforms {
            plan = try transform.planned(plan)
            plans.append(plan)
        }
        return plans
    }

    /// Runs every step. Pixels may still be lazy afterward.
    ///
    /// Each step is planned again right before it runs, since a step like `Trim` learns its size from pixels. Until an
    /// image that the decoder shrank is resized, the plan has the true size and the raster has not.
    ///
    /// - Parameter limits: the limits of every raster, which may be larger than planned after a trim; nil = no limits.
    func apply(
        to source: ImageFrames, start: ChainPlan, images: [String: MarkSource] = [:], overview: OverviewSource? = nil,
        faces: FaceFinders = FaceFinders(), limits: PixelLimits? = nil, interrupt: @escaping Interrupt
    ) throws -> ImageFrames {
        var isShrunk = start.size != source.size
        var image = source
        var plan = start
        for transform in transforms {
            plan = try transform.planned(plan)
            try limits?.check(intermediate: plan.largest, setBy: sizeParameter)
            image = try transform.apply(
                transform.reading.prepared(image, interrupt: interrupt),
                context: TransformContext(
                    plan: plan, interrupt: interrupt, images: images, overview: overview, faces: faces))
            if plan.decode != .undecided { isShrunk = false }
            if !isShrunk { plan = plan.changingSize(to: image.size) }
        }
        return image
    }
}

/// A chain is coded as its recipe, from which the decoder derives the same steps. Code of custom transforms cannot be
/// sent: encoding them throws.
extension TransformChain: Codable {
    public init(from decoder: any Swift.Decoder) throws {
        let origin = try Origin(from: decoder)
        self.init(origin.recipe, limits: origin.limits)
    }

    public func encode(to encoder: any Swift.Encoder) throws {
        guard let origin else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "custom transforms cannot be encoded"))
        }
        try origin.encode(to: encoder)
    }
}
