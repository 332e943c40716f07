import DarkroomRequests

/// An image query while its parameters are read or written.
///
/// A parameter with a meaning of its own is stored in ``query`` at once. This type adds parameters whose meaning
/// depends on others, such as `w` on `dpr` and `fpx` on `a`: ``finished(_:)`` settles them, and ``init(writing:_:)``
/// is its inverse.
struct ImageQueryDraft: Sendable {
    var query: ImageQuery
    /// Before `dpr`, like the other sides; pixels are CSS pixels.
    var width: Length?
    var height: Length?
    var aspectRatio: AspectRatio?
    var minWidth: Int?
    var minHeight: Int?
    /// Nil = `fit` was not given.
    var fit: Fit?
    var pixelRatio = Hundredths.one { didSet { hasPixelRatio = true } }
    /// Whether `dpr` was given.
    private(set) var hasPixelRatio = false
    /// The width by a client's hint, after `dpr`; nil if there is a `w` or an `h`.
    var shownWidth: Int?
    var withoutEnlargement = false
    var place = PlaceName.position(.center)
    var faceZoom = 0.0
    var focalX = Self.middle
    var focalY = Self.middle
    var format = OutputName.negotiated
    /// Nil = `fields` was not given.
    var details: ImageDetails?
    var includesPosition = false
    var quality: QualityChoice?
    var target = QualityTarget.medium
    var focus: FocusPoint?
    var swapsSides = false
    var trimBackground: Color?
    var trimCorner = Trim.Corner.topLeft
    var sharpFlat: Double?
    var sharpJagged: Double?
    var dialect = Dialect.darkroom
    /// The options of the encoder that need no other parameter, as far as the format will support them.
    var output = OutputOptions()
    /// In CSS pixels, before `dpr`, like the other lengths of the result.
    var mark = Mark()
    /// Its text is empty if there is none.
    var text = Text("")
    /// Named images, by their names.
    var markParts: [String: MarkPartDraft] = [:]
    /// Named texts, by their names.
    var textParts: [String: TextPartDraft] = [:]
    /// The names of the layers from the lowest to the highest; nil = images in the order of their names, then texts.
    var layers: [String]?

    static let middle = 0.5

    /// What a query without parameters means.
    init(_ limits: QueryLimits) {
        query = ImageQuery()
        output.damaged = limits.defaultDamaged
        query.recipe.gamut = limits.defaultGamut
    }

    /// The draft that ``finished(_:)`` makes this query of.
    init(writing query: ImageQuery, _ limits: QueryLimits) {
        self.init(limits)
        self.query = query
        (width, height) = (query.recipe.box.horizontal, query.recipe.box.vertical)
        (minWidth, minHeight) = (query.recipe.box.minWidth, query.recipe.box.minHeight)
        aspectRatio = query.recipe.box.ratio
        fit = query.recipe.fit
        place = PlaceName(query.recipe.position)
        switch query.recipe.position {
        case .anchor(let x, let y), .focal(let x, let y): if place == .focal { (focalX, focalY) = (x, y) }
        case .point(let x, let y): focus = FocusPoint(x: x, y: y)
        case .faces(let focus): faceZoom = focus.zoom
        case .entropy, .attention: break
        }
        swapsSides = query.recipe.box.swapsSides
        trimCorner = query.recipe.trim?.corner ?? .topLeft
        format = query.output.format.map(OutputName.format) ?? (query.keepsFormat ? .origin : .negotiated)
        trimBackground = query.recipe.trim?.background
        (sharpFlat, sharpJagged) = (query.recipe.sharpen?.flat, query.recipe.sharpen?.jagged)
        details = query.output.details.isEmpty ? nil : query.output.details
        text = query.recipe.text ?? text
        quality = query.output.target.map { _ in .auto } ?? query.output.quality.map(QualityChoice.fixed)
        target = query.output.target ?? target
        mark = query.recipe.mark ?? Mark()
        output = query.output
        writeParts(limits)
    }

    /// The query that the parameters describe. Values that change nothing become the default, so that equal images have
    /// equal queries. The client's hints are nil if the server does not use them.
    func finished(_ limits: QueryLimits, _ hints: ClientHints? = nil) throws(InvalidParameter) -> ImageQuery {
        if let hints { return try applying(hints, limits).finished(limits) }
        try require(
            !query.url.isEmpty || query.isUpload, "url",
            "Parameter 'url' is required: the percent-encoded URL of the source image.")
        try require(
            query.formats == nil || format == .negotiated, "formats", "Parameter 'formats' requires output=auto.")
        try require(dialect == .darkroom, Dialect.parameter, "Parameter 'compat' requires /, /image or /explain.")
        var query = query
        query.keepsFormat = format == .origin
        try require(
            query.pages.count != nil || !query.pages.isThinned, "pick",
            "Parameter 'pick' requires 'n', the number of frames.")
        // A single frame is the first one.
        if query.pages.count == 1 { query.pages.isThinned = false }
        try finishFaces(limits)
        try finishBox(&query.recipe, limits)
        try finishDetails(&query.recipe)
        // A transparent background makes a difference only around an opaque image.
        if query.recipe.background?.alpha == 0 {
            let isExtended = query.recipe.fit == .contain || query.recipe.padding != nil
            query.recipe.background = isExtended ? .transparent : nil
        }
        try finishMask(&query.recipe)
        try finishText(&query.recipe)
        try multiplyLengths(of: &query.recipe)
        query.output = try finishedOutput(limits)
        if !query.output.mayBeLossy { query.slowQuality = nil }
        if !query.output.mayHoldProfile { query.recipe.gamut = .sRGB }
        if !query.output.mayBeDeep { query.recipe.depth = .eight }
        query.recipe.mark = try finishedMark(limits)
        try finishParts(&query, limits)
        return query
    }

    /// Details of an effect, which require the effect, and colors of areas that the image does not cover.
    private func finishDetails(_ recipe: inout Recipe) throws(InvalidParameter) {
        try require(trimBackground == nil || recipe.trim != nil, "tbg", "Parameter 'tbg' requires 'trim'.")
        try require(
            trimCorner == .topLeft || recipe.trim != nil && trimBackground == nil, "tcorner",
            "Parameter 'tcorner' requires 'trim' without 'tbg'.")
        recipe.trim?.background = trimBackground
        recipe.trim?.corner = trimCorner
        try require(
            sharpFlat == nil && sharpJagged == nil || recipe.sharpen?.sigma != nil,
            sharpFlat == nil ? "sharpj" : "sharpf", "Parameters 'sharpf' and 'sharpj' require 'sharp' with a value.")
        recipe.sharpen?.flat = sharpFlat
        recipe.sharpen?.jagged = sharpJagged
        if recipe.fit != .contain { recipe.canvasBackground = nil }
        if recipe.rotationDegrees.truncatingRemainder(dividingBy: 90) == 0 { recipe.cornerBackground = nil }
    }

    /// At most one outline, and no parameter of a mask without a mask.
    private func finishMask(_ recipe: inout Recipe) throws(InvalidParameter) {
        try require(
            recipe.mask == nil || recipe.radius == nil, "radius", "Parameter 'radius' cannot be combined with 'mask'.")
        try require(
            recipe.mask != nil || recipe.maskBackground == nil && !recipe.trimsMask, recipe.trimsMask ? "mtrim" : "mbg",
            "Parameters 'mbg' and 'mtrim' require 'mask'.")
        // An ellipse is as large as the image.
        if recipe.mask == .ellipse { recipe.trimsMask = false }
    }

    /// The text with its size, color and place, which require the text.
    private func finishText(_ recipe: inout Recipe) throws(InvalidParameter) {
        let hasText = !text.text.isEmpty
        recipe.text = hasText ? text : nil
        try require(
            hasText || text == Text(""),
            text.size != nil ? "textsize" : text.color != Text("").color ? "textcolor" : "texta",
            "Parameters 'textsize', 'textcolor' and 'texta' require 'text'.")
        try require(
            (hasText || !recipe.steps.contains(.text))
                && (query.mark != nil || !recipe.steps.contains(where: \.drawsUnnamedMark)),
            "steps", "Steps 'text' and 'mark' of parameter 'steps' require a parameter of the same name.")
    }

    private func finishedOutput(_ limits: QueryLimits) throws(InvalidParameter) -> OutputOptions {
        if case .format(let format) = format { try limits.requireWritable(format, parameter: "output") }
        if case .format(let format) = format, format.isText, !query.placeholders.isEmpty {
            throw InvalidParameter(
                "placeholder",
                "Parameter 'placeholder' requires an image, and output=\(format.rawValue) is not one.")
        }
        try require(details == nil || format == .format(.json), "fields", "Parameter 'fields' requires output=json.")
        try require(target == .medium || quality == .auto, "target", "Parameter 'target' requires q=auto.")
        var output = output
        output.format = format.outputFormat
        output.quality = quality?.fixed
        output.target = quality == .auto ? target : nil
        output.details = (details ?? []).union(includesPosition ? .position : [])
        output.normalize()
        return output
    }
}
