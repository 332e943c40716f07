import DarkroomRequests
import DarkroomVips
import Synchronization

/// Finds the faces of an image when a step asks for them.
final class FaceFinder: Sendable {
    /// How much time is taken for small faces.
    enum Effort {
        /// They are looked for if there are no larger ones.
        case afterLarge
        case always
    }

    private let effort: Effort
    private let copy: (@Sendable () throws -> VipsImage)?
    private let found = Mutex<[Face]?>(nil)

    /// - Parameter copy: makes the ``FaceCopy`` to search; nil = a step's own image is searched.
    init(_ effort: Effort = .afterLarge, copy: (@Sendable () throws -> VipsImage)? = nil) {
        self.effort = effort
        self.copy = copy
    }

    /// The faces, the most certain first, as shares of the image.
    ///
    /// - Parameter image: the image of the step that asks.
    func faces(of image: ImageFrames, interrupt: @escaping Interrupt) throws -> [Face] {
        if copy != nil, let found = found.withLock({ $0 }) { return found }
        let faces = try search(copy?() ?? FaceCopy.reduced(image), interrupt)
        found.withLock { $0 = faces }
        return faces
    }

    private func search(_ image: VipsImage, _ interrupt: @escaping Interrupt) throws -> [Face] {
        if effort == .afterLarge {
            let half = try image.resampled(to: image.size.scaled(by: 0.5))
            let large = try FaceDetector.faces(in: half, interrupt: interrupt)
            if !large.isEmpty { return large }
        }
        return try FaceDetector.faces(in: image, interrupt: interrupt)
    }

    /// Pixels that are searched at most in a copy of this size.
    static func searchedArea(of copy: PixelSize) -> Int { copy.area + copy.area / 4 }

    /// The faces that were found last; nil = no step has asked.
    var known: [Face]? { found.withLock { $0 } }
}

/// The finders of a job, by what the faces are for.
struct FaceFinders: Sendable {
    var hidden: FaceFinder?
    var shown: FaceFinder?
    var described: FaceFinder?

    /// - Parameter copy: the image that a chain makes of the source.
    init(of job: ImageJob, copy: @escaping @Sendable (TransformChain) throws -> VipsImage) {
        func finder(_ effort: FaceFinder.Effort, _ chain: TransformChain) -> FaceFinder {
            FaceFinder(effort) { try copy(chain) }
        }
        hidden = job.chain.copyForHiding.map { finder(.always, $0) }
        shown = job.chain.showsFaces ? job.chain.copyForShowing.map { finder(.afterLarge, $0) } ?? FaceFinder() : nil
        described =
            job.output.details.contains(.faces) ? finder(.always, TransformChain.copyForDescribing) : nil
    }

    init() {}

    /// The steps that make the copies in which faces are looked for, and what for.
    static func copies(for job: ImageJob) -> [(ImagePlan.FaceSearch.Purpose, TransformChain)] {
        let described = job.output.details.contains(.faces) ? TransformChain.copyForDescribing : nil
        return [(.hide, job.chain.copyForHiding), (.show, job.chain.copyForShowing), (.describe, described)]
            .compactMap { purpose, chain in chain.map { (purpose, $0) } }
    }

    /// The faces that the result is about; nil = none were looked for.
    var known: [Face]? { described?.known ?? hidden?.known ?? shown?.known }
}

/// Reduces the first frame to the copy in which faces are looked for.
struct FaceCopy: Transform {
    /// The longer side of the copy at most: faces of 80 pixels and more are found.
    private static let longerSide = 960.0
    /// How much a small image is enlarged.
    private static let enlargement = 2.0

    /// The limits of the resize that the copy is made in place of; nil = none.
    var limits: ScaleDownLimits?

    var key: String { "face-copy" }

    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let plan = limits.map { plan.reduced(to: $0.maxSourcePixels) } ?? plan
        let size = Self.size(of: plan.size, isVector: plan.isVector)
        return plan.scaling(to: size, canvas: size, inLinearLight: false)
    }

    /// The size of the copy of an image.
    static func size(of image: PixelSize, isVector: Bool = false) -> PixelSize {
        let factor = longerSide / Double(max(image.width, image.height))
        return image.scaled(by: isVector ? factor : min(factor, enlargement))
    }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let first = ImageFrames(frames: [image.first], extent: image.extent, orientation: image.orientation)
        let small = try first.resampled(to: context.plan.size)
        return try ColorConversion().apply(small, context: context)
    }

    /// A copy of an image in the middle of a chain.
    static func reduced(_ image: ImageFrames) throws -> VipsImage {
        try image.first.resampled(to: size(of: image.size)).convertedToSRGB()
    }
}

extension TransformChain {
    /// The steps that make the copy in which the faces to hide are looked for; nil = none are hidden.
    var copyForHiding: TransformChain? {
        transforms.firstIndex { $0 is Redaction }.map {
            TransformChain(Array(transforms[..<$0]) + [FaceCopy()])
        }
    }

    /// The steps that make the copy in which the faces to show are looked for; nil if no step shows faces, or not right
    /// after a resize.
    var copyForShowing: TransformChain? {
        guard let crop = transforms.firstIndex(where: \.showsFaces) else { return nil }
        var (end, limits): (Int, ScaleDownLimits?) = (crop, nil)
        if !(transforms[crop] is FaceZoom) {
            guard let resize = transforms[..<crop].lastIndex(where: { $0 is Resize || $0 is LayoutResize }),
                transforms[(resize + 1)..<crop].allSatisfy({ $0 is ColorConversion || $0 is Clip })
            else { return nil }
            (end, limits) = (resize, (transforms[resize] as? Resize)?.limits)
        }
        // Faces that are hidden are shown all the same: as the place of a face.
        let before = transforms[..<end].filter { !($0 is Redaction) }
        return TransformChain(before + [FaceCopy(limits: limits)])
    }

    /// The images in the middle of the chain that steps search for faces to show, because ``copyForShowing`` is nil.
    func imagesToSearch(_ start: ChainPlan) throws(TransformError) -> [PixelSize] {
        guard showsFaces, copyForShowing == nil else { return [] }
        let sizes = [start.size] + (try plans(start)).map(\.size)
        return zip(transforms, sizes).compactMap { step, size in step.showsFaces ? size : nil }
    }

    /// The steps that make the copy of the upright source in which `/info` looks for faces.
    static let copyForDescribing = TransformChain([Orient(.auto), FaceCopy()])

    /// Whether a step hides faces.
    var hidesFaces: Bool { transforms.contains { $0 is Redaction } }
    /// Whether a step shows faces.
    var showsFaces: Bool { transforms.contains(where: \.showsFaces) }
}

extension Transform {
    fileprivate var showsFaces: Bool {
        switch self {
        case let crop as CoverCrop: crop.position.faces != nil
        case let clip as Clip: clip.position.faces != nil
        case let canvas as LayoutCanvas: canvas.faces != nil
        default: self is FaceZoom
        }
    }
}
