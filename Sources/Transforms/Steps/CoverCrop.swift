public import DarkroomRequests
import DarkroomVips

/// Crops a resized image to the box that it covers.
public struct CoverCrop: Transform, Hashable {
    /// The box to cover; nil = the canvas of the earlier resize, for a box that depends on the image.
    public var box: PixelSize?
    /// Whether the result has the size of ``box`` even if the source is smaller.
    public var enlarge: Bool
    /// Which part is kept; `entropy` and `attention` are libvips' `smartcrop`, on a small copy of what is resized.
    public var position: Position

    /// Crops to a box, or without `enlarge` to its aspect ratio within a smaller source.
    public init(box: PixelSize?, enlarge: Bool = false, position: Position = .center) {
        self.box = box
        self.enlarge = enlarge
        self.position = position
    }

    init?(_ recipe: Recipe) {
        guard recipe.box.crops(recipe.fit) else { return nil }
        let isFixed = recipe.box.isFixed
        self.init(
            box: isFixed ? recipe.box.size : nil, enlarge: isFixed && recipe.enlarge, position: recipe.position)
    }

    public var key: String {
        guard let box else { return "cover(resized,\(position.key))" }
        return "cover(\(box.width),\(box.height),\(enlarge ? "enlarge" : "shrink"),\(position.key))"
    }

    public var cost: TransformCost {
        switch position {
        case .entropy:
            TransformCost(
                nanosecondsPerPixel: 5, nanosecondsPerPixelWithAlpha: 60, nanosecondsPerFrame: 14e6, bytesPerPixel: 2,
                bytesPerPixelWithAlpha: 45, fixedBytes: 2e6)
        case .attention, .faces:
            TransformCost(
                nanosecondsPerPixel: 5, nanosecondsPerFrame: 8e6, bytesPerPixel: 2, bytesPerPixelWithAlpha: 10,
                fixedBytes: 2e6)
        case .anchor, .focal, .point: .none
        }
    }

    /// The cost of a crop that decides on the image itself instead of an ``Overview``.
    var costWithoutOverview: TransformCost {
        var cost = cost
        cost.nanosecondsPerDecodedPixel = position.dependsOnPixels ? (position == .entropy ? 10 : 5) : 0
        return cost
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        guard let box else { return plan.changingSize(to: plan.canvas ?? plan.size) }
        let geometry = ResizeGeometry(
            source: plan.size, box: Box(width: box.width, height: box.height), fit: .cover,
            enlarge: enlarge || plan.isVector)
        return plan.changingSize(to: geometry.canvas)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let size = context.plan.size
        guard size != image.size else { return image }
        let position = position.pinned(context.plan, cropped: nil)
        if let focus = position.faces, let framing = FaceFraming(try context.faces(of: image), focus.choice) {
            // A zoom has framed the faces already.
            let corner = focus.zoom > 0 ? Position.center.corner(of: size, in: image.size) : nil
            let (x, y) = corner ?? framing.corner(of: size, in: image.size)
            return try image.extracting((x, y, size))
        }
        guard let corner = position.corner(of: size, in: image.size) else {
            return try smartlyCropped(image, to: size, context)
        }
        return try image.extracting((corner.x, corner.y, size))
    }

    /// libvips decides by the first frame; all frames are cropped alike. It reads many parts of the image, and a lazy
    /// resize would run again for each of them.
    private func smartlyCropped(
        _ image: ImageFrames, to size: PixelSize, _ context: TransformContext
    ) throws -> ImageFrames {
        if let overview = try context.overview?.image() {
            let across = Self.span(size.width, of: image.size.width, on: overview.width)
            let down = Self.span(size.height, of: image.size.height, on: overview.height)
            let corner = try interestingCorner(of: PixelSize(width: across, height: down), in: overview)
            return try image.extracting(
                (
                    Self.start(corner.x, free: overview.width - across, outOf: image.size.width - size.width),
                    Self.start(corner.y, free: overview.height - down, outOf: image.size.height - size.height), size
                ))
        }
        let ready = try image.mapFrames { frame throws(VipsError) in try frame.rendered(interrupt: context.interrupt) }
        let corner = try interestingCorner(of: size, in: ready.first)
        return try ready.extracting((corner.x, corner.y, size))
    }

    private func interestingCorner(of size: PixelSize, in image: VipsImage) throws(VipsError) -> (x: Int, y: Int) {
        let cut = try image.applying(
            "smartcrop",
            [
                "width": .int(size.width), "height": .int(size.height),
                "interesting": position == .entropy ? "entropy" : "attention",
            ])
        return (-cut.offset.x, -cut.offset.y)
    }

    /// The part of a side that is kept, on a copy with another length of that side. It is rounded to a twelfth of the
    /// copy, because boxes of one shape in different sizes keep slightly different parts.
    private static func span(_ kept: Int, of whole: Int, on copy: Int) -> Int {
        guard kept < whole else { return copy }
        let twelfths = max((12 * Double(kept) / Double(whole)).rounded(), 1)
        return min(PixelSize.side(twelfths * Double(copy) / 12), copy)
    }

    /// The same share of another free space: a crop at an edge of the copy is at that edge of the image.
    private static func start(_ start: Int, free: Int, outOf space: Int) -> Int {
        free > 0 ? Int((Double(start) * Double(space) / Double(free)).rounded()) : space / 2
    }
}

extension Position {
    /// The position with a point of the source as a part of the scaled image.
    ///
    /// - Parameter cropped: the rectangle of the upright source that was scaled; nil = the whole source.
    func pinned(_ plan: ChainPlan, cropped: (x: Int, y: Int, size: PixelSize)?) -> Position {
        guard case .point(let x, let y) = self else { return self }
        let part = cropped ?? (0, 0, plan.uprightSource)
        let fraction = { (point: Double, start: Int, side: Int) in
            min(max((point - Double(start)) / Double(side), 0), 1)
        }
        return .focal(x: fraction(x, part.x, part.size.width), y: fraction(y, part.y, part.size.height))
    }
}

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
