public import DarkroomRequests
import DarkroomVips

/// Extends an image resized by `contain` to its exact canvas (libvips `embed`).
public struct ContainExtend: Transform, Hashable {
    /// The size of the result; nil = the canvas of the earlier resize, for a box that depends on the image.
    public var canvas: PixelSize?
    /// The position of the image on the canvas.
    public var position: Position
    /// The fill; nil = white for an opaque image, else transparent, which becomes white in a format without alpha.
    public var background: Color?
    /// Whether the canvas is filled with the image itself, enlarged and blurred, instead of `background`.
    public var blursBackdrop: Bool

    /// A canvas of this size, by default with the image centered.
    public init(
        canvas: PixelSize?, position: Position = .center, background: Color? = nil, blursBackdrop: Bool = false
    ) {
        self.canvas = canvas
        self.position = position
        self.background = background
        self.blursBackdrop = blursBackdrop
    }

    /// - Parameter extendsOneSide: whether a box of one side is a canvas too.
    init?(_ recipe: Recipe, extendsOneSide: Bool = false) {
        let mayExtend = recipe.box.isTwoSided || extendsOneSide && recipe.box.hasSide
        guard recipe.fit == .contain, mayExtend else { return nil }
        self.init(
            canvas: recipe.box.isFixed ? recipe.box.size : nil, position: recipe.position,
            background: recipe.canvasBackground ?? recipe.background.map { $0.alpha == 255 ? $0 : .transparent },
            blursBackdrop: recipe.blursBackdrop)
    }

    public var key: String {
        let sides = canvas.map { "\($0.width),\($0.height)" } ?? "resized"
        let fill = blursBackdrop ? "blur" : background?.hex ?? "auto"
        return "contain(\(sides),\(position.key),\(fill))"
    }

    public var cost: TransformCost {
        blursBackdrop
            ? TransformCost(
                nanosecondsPerPixel: 20, nanosecondsPerPixelWithAlpha: 90, nanosecondsPerFrame: 5e6, bytesPerPixel: 4,
                bytesPerPixelWithAlpha: 5) : .none
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let canvas = canvas ?? plan.canvas ?? plan.size
        let isExtended = plan.size != canvas
        if isExtended, blursBackdrop { return plan.changingSize(to: canvas).withAlpha(false) }
        return plan.extending(to: canvas).withAlpha(plan.hasAlpha || isExtended && (background?.alpha ?? 255) < 255)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let canvas = context.plan.size
        guard image.size != canvas else { return image }
        let fill = background ?? (image.first.hasAlpha ? .transparent : .white)
        let x = Int(Double(canvas.width - image.size.width) * position.fractions.x)
        let y = Int(Double(canvas.height - image.size.height) * position.fractions.y)
        return try image.mapFrames { frame throws(VipsError) in
            guard blursBackdrop else { return try frame.embedded(in: canvas, x: x, y: y, on: fill) }
            return try frame.rendered(interrupt: context.interrupt).onBackdrop(of: canvas, x: x, y: y)
        }
    }
}

extension VipsImage {
    /// The image, which is in memory, at a place of a canvas with an opaque backdrop: the image itself, enlarged to
    /// cover the canvas and blurred.
    fileprivate func onBackdrop(of canvas: PixelSize, x: Int, y: Int) throws(VipsError) -> VipsImage {
        let covering = canvas.scaled(by: canvas.factor(toFit: size)).clipped(to: size)
        // Blurring leaves no detail, so it is done on an image an eighth as large.
        let small = PixelSize(width: (canvas.width + 7) / 8, height: (canvas.height + 7) / 8)
        let sigma = max(0.04 * Double(max(small.width, small.height)), 0.5)
        return try flattened(on: .white)
            .extracting(x: (width - covering.width) / 2, y: (height - covering.height) / 2, size: covering)
            .resampled(to: small).applying("gaussblur", ["sigma": .double(sigma), "precision": "float"])
            .roundedToBytes().rendered()
            .enlarged(to: canvas).roundedToBytes()
            .covered(by: self, x: x, y: y)
    }
}
