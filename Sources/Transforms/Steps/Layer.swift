import DarkroomRequests
import DarkroomVips

/// A step that draws another image of its job.
protocol ImageDrawing: DrawingTransform {
    /// The name of the image in the request, see ``PartImage/name``.
    var imageName: String { get }
    /// The content by which the job has the image, see ``ImageJob/images``.
    var content: String { get }

    /// The cost of making what is drawn of the image.
    ///
    /// - Parameters:
    ///   - framesUsed: the frames of the image below.
    ///   - size: the size of the image below.
    func cost(
        of source: MarkSource, framesUsed: Int, on size: PixelSize
    ) throws(ImageProcessingError) -> (bytes: Int, work: Double)

    /// The work of putting it on an image of this size, as far as the step's own cost does not count it.
    func compositingWork(framesUsed: Int, on size: PixelSize) -> Double
}

extension ImageDrawing {
    func compositingWork(framesUsed: Int, on size: PixelSize) -> Double { 0 }
}

extension TransformContext {
    func image(for drawing: some ImageDrawing) throws(ImageProcessingError) -> MarkSource {
        guard let source = images[drawing.content] else { throw .transformFailed("the job has no bytes for its mark") }
        return source.named(drawing.imageName)
    }
}

extension Recipe {
    var layerSteps: [(any Transform)?] {
        layers.map { layer in
            switch layer.content {
            case .picture(let picture): PictureLayer(layer: layer, picture: picture)
            case .text(let box): TextLayer(layer: layer, box: box)
            }
        }
    }
}

/// Draws a picture that is made from an image of its own. In an animation, an animated picture plays along.
struct PictureLayer: ImageDrawing, Hashable {
    let layer: Layer
    let picture: Picture

    var imageName: String { layer.name }
    var content: String { picture.content }

    var key: String { "picture(\(content),\(layer.placementKey),\(TransformChain(picture.ownRecipe).key))" }

    /// Without the work of ``compositingWork(framesUsed:on:)``.
    var cost: TransformCost { layer.cost }

    func cost(
        of source: MarkSource, framesUsed: Int, on size: PixelSize
    ) throws(ImageProcessingError) -> (bytes: Int, work: Double) {
        try source.named(imageName).cost(source.frames(on: framesUsed), by: chain(on: size))
    }

    func compositingWork(framesUsed: Int, on size: PixelSize) -> Double {
        let box = picture.recipe.box
        let across = min(box.horizontal?.measured(in: size.width) ?? size.width, size.width)
        let down = min(box.vertical?.measured(in: size.height) ?? size.height, size.height)
        return Double(across) * Double(down) * Double(framesUsed) * 30 / 1e6
    }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let source = try context.image(for: self)
        let frames = try source.images(
            source.frames(on: image.frames.count), by: chain(on: image.size), interrupt: context.interrupt)
        let overlays = try frames.compactMap { frame throws(VipsError) in
            let ink = try frame.asInk(opacity: layer.opacity, interrupt: context.interrupt)
            return try layer.visible(ink, in: ink.size, on: image.size)
        }
        return try image.drawing(overlays, layer.blend)
    }

    /// The steps that make the picture for an image of this size.
    private func chain(on size: PixelSize) -> TransformChain {
        var recipe = picture.ownRecipe
        if recipe.box.hasSide {
            recipe.box.horizontal = recipe.box.horizontal.map { .pixels(max($0.measured(in: size.width), 1)) }
            recipe.box.vertical = recipe.box.vertical.map { .pixels(max($0.measured(in: size.height), 1)) }
        } else {
            (recipe.box, recipe.fit, recipe.enlarge) = (Box(width: size.width, height: size.height), .inside, false)
        }
        return TransformChain(recipe)
    }
}

extension Layer {
    /// The part of a step's key that says where the layer lies, and how it is drawn.
    fileprivate var placementKey: String { "\(x.key),\(y.key),\(opacity),\(blend.rawValue)" }

    /// All pixels of the result are copied or, with alpha or a blend mode, converted.
    fileprivate var cost: TransformCost {
        TransformCost(
            nanosecondsPerPixel: blend == .over ? 4 : 40, nanosecondsPerPixelWithAlpha: 40, nanosecondsPerFrame: 1e6,
            bytesPerPixel: 3, bytesPerPixelWithAlpha: 4, bytesPerFrame: 50_000)
    }

    /// The part of a drawing that lies on the image, and where it lies; nil if it lies wholly outside.
    ///
    /// - Parameters:
    ///   - box: the size that the place is based on.
    ///   - offset: the upper left corner of the drawing, from the corner of the box.
    fileprivate func visible(
        _ drawing: VipsImage, in box: PixelSize, offset: (x: Int, y: Int) = (0, 0), on size: PixelSize
    ) throws(VipsError) -> Overlay? {
        try drawing.visible(
            at: (
                x.position(of: box.width, on: size.width) + offset.x,
                y.position(of: box.height, on: size.height) + offset.y
            ), on: size)
    }
}

/// Draws a text in a box.
struct TextLayer: DrawingTransform, Hashable {
    let layer: Layer
    let box: TextBox

    var key: String { "text-layer(\(layer.placementKey),\(box.key))" }

    var cost: TransformCost { box.cost + layer.cost }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let drawn = try box.drawn(on: image.size, named: "text.\(layer.name)", interrupt: context.interrupt)
        guard let ink = try drawn.image?.fading(by: Double(layer.opacity) / 100),
            let visible = try layer.visible(ink, in: drawn.box, offset: (drawn.x, drawn.y), on: image.size)
        else { return image }
        return try image.drawing([visible], layer.blend)
    }
}

extension Picture {
    /// The recipe without what would draw further images.
    fileprivate var ownRecipe: Recipe {
        var recipe = recipe
        (recipe.layers, recipe.mark, recipe.text, recipe.aiLabel) = ([], nil, nil, .none)
        recipe.steps.removeAll(where: \.drawsMark)
        (recipe.gamut, recipe.depth) = (.sRGB, .eight)
        return recipe
    }
}
