package import DarkroomHTTPCaching
package import DarkroomNetwork
package import DarkroomRequests

/// A parsed query to `/image` or `/info`. Queries with the same meaning are equal, however they were spelled.
///
/// It is separate from `ImageRequest` because it has the content of the URL alone, before header fields, permissions
/// and the URL parser are considered. It can be written as a URL again (``CanonicalQuery``), and it holds values that
/// the pipeline does not use, such as the file name.
package struct ImageQuery: Hashable, Sendable {
    /// The source URL, percent-decoded once and not yet parsed.
    package var url = ""
    /// Whether the source is the body of the request, so that ``url`` means nothing.
    package var isUpload = false
    /// The URL of a second source, used if the first source fails.
    package var fallback: String?
    /// The statuses of the failures that ``fallback`` is used for; empty = all.
    package var fallbackStatuses: Set<Int> = []
    /// The URL or the name of the image that ``Recipe/mark`` draws; nil = none.
    package var mark: String?
    /// The images that ``Recipe/layers`` and ``Recipe/steps`` draw by name, in the order of their names.
    package var parts: [NamedImage] = []
    package var recipe = Recipe()
    package var pages = PageSelection()
    /// The encoding. Without a format it is negotiated by `Accept`.
    package var output = OutputOptions()
    /// The quality for clients whose connection is slow; nil = the same quality for all.
    package var slowQuality: Int?
    /// Whether a result without a format of its own has the format of the source, whatever the client accepts.
    package var keepsFormat = false
    /// Placeholders that the response carries in addition to the image: some of `color`, `blurHash`, `thumbHash` and
    /// `lqip`.
    package var placeholders: ImageDetails = []
    /// Whether the document of `/info` says where it and its source are cached.
    package var includesCaching = false
    /// Which cached responses are acceptable, and whether the origin must be asked.
    package var cache = RequestCachePolicy().mode
    package var store = TierSelection.all
    /// Whether the response waits until its entries are on disk.
    package var waitsForDisk = false
    /// Whether the response waits for the best format that the client accepts.
    package var waitsForBest = false
    /// The formats that negotiation chooses from; nil = the formats of the server.
    package var formats: FormatList?
    /// Whether client hints can change the image.
    package var dependsOnClientHints = false
    /// Nil = the urgency in the `Priority` field.
    package var priority: Priority?
    /// How long the client may use the response from now on; nil = as long as origin and server permit.
    package var maxAge: Duration?
    /// The file name in `Content-Disposition`; it needs no quoting. An ending `.*` is replaced by the format's
    /// extension.
    package var fileName: String?
    /// Whether browsers save the response instead of showing it.
    package var isAttachment = false
    /// Whether the response is a `data:` URL of the image.
    package var encodesBase64 = false
    /// Texts that give the same image separate entries; nil = none.
    package var version: String?
    package var nonce: String?

    /// Whether the format depends on `Accept`.
    package var isNegotiated: Bool { output.format == nil && !keepsFormat }

    /// Whether a client whose request fails is redirected to the source.
    package var redirectsToSource: Bool { fallback == Self.redirect }

    /// The value of `default` for a redirect.
    private static let redirect = "1"

    /// Whether the document of `/info` says where the image was taken.
    package var includesPosition: Bool { output.details.contains(.position) }

    /// A request for the sources of the query, with default options. The request of an upload lacks its bytes.
    package func sourceRequest(_ map: SourceMap) throws(InvalidSourceURL) -> ImageRequest {
        var request = ImageRequest(
            source: isUpload ? SourceURL(uploadOf: "") : try map.source(url, givenAs: "url").url)
        request.fallback = try (redirectsToSource ? nil : fallback).map { text throws(InvalidSourceURL) in
            try map.source(text, givenAs: "default").url
        }
        request.fallbackStatuses = fallbackStatuses
        request.parts = try partImages(map)
        return request
    }

    /// The images to draw onto the result.
    package func partImages(_ map: SourceMap) throws(InvalidSourceURL) -> [PartImage] {
        var images: [PartImage] = []
        for image in (mark.map { [NamedImage("", $0)] } ?? []) + parts {
            images.append(try image.part(map))
        }
        return images
    }

    /// The sources of the query, and how the client spelled them.
    package func sources(
        _ map: SourceMap
    ) throws(InvalidSourceURL) -> (source: SourceMap.Source, fallback: SourceMap.Source?) {
        let source = try map.source(url, givenAs: "url")
        guard let fallback, !redirectsToSource else { return (source, nil) }
        return (source, try map.source(fallback, givenAs: "default"))
    }

    /// Sets recipe, pages, encoding and cache use of a request, for the client's preferences by the server's
    /// ``NegotiationPolicy`` and a policy whose mode is ``cache``.
    package func apply(to request: inout ImageRequest, for preferences: ClientPreferences, policy: RequestCachePolicy) {
        request.recipe = recipe
        request.pages = pages
        request.versions = [version, nonce]
        request.output = output(for: preferences)
        request.interim = interimOutput(for: preferences)
        request.cache = CacheOptions(policy: policy, store: store, waitsForDisk: waitsForDisk)
    }
}

/// An image that a query draws.
package struct NamedImage: Hashable, Sendable {
    /// See ``PartImage/name``.
    package let name: String
    /// The URL, or the name of one of the server's marks.
    package var source: String
    /// The same of the image that is drawn if the first one fails; nil = none.
    package var fallback: String?
    /// See ``PartImage/mayBeLeftOut``.
    package var mayBeLeftOut = false

    package init(_ name: String, _ source: String, fallback: String? = nil, mayBeLeftOut: Bool = false) {
        (self.name, self.source, self.fallback) = (name, source, fallback)
        self.mayBeLeftOut = mayBeLeftOut
    }

    var parameter: String { PartImage.parameter(of: name) }

    fileprivate func part(_ map: SourceMap) throws(InvalidSourceURL) -> PartImage {
        let own = try map.mark(source, givenAs: parameter)
        var part = PartImage(name, own.url, mayBeLeftOut: mayBeLeftOut)
        part.isTrusted = own.isNamed
        if let fallback {
            let other = try map.mark(fallback, givenAs: "\(parameter).default")
            (part.fallback, part.isFallbackTrusted) = (other.url, other.isNamed)
        }
        return part
    }

    /// The image in canonical spellings, which do not reveal the targets of short names.
    package func spelled(by map: SourceMap) -> NamedImage {
        var image = self
        image.source = (try? map.mark(source, givenAs: parameter))?.spelling ?? source
        image.fallback = fallback.map { (try? map.mark($0, givenAs: parameter))?.spelling ?? $0 }
        return image
    }
}

/// A source URL that was refused before anything was fetched.
package struct InvalidSourceURL: Error, Hashable {
    /// The parameter that gave the URL.
    package let parameter: String
    /// One sentence for the client.
    package let detail: String
}

extension InvalidParameter {
    /// The value, or the error of its source as the error of the parameter that gave it.
    @discardableResult
    static func wrapping<Value>(
        _ value: @autoclosure () throws(InvalidSourceURL) -> Value
    ) throws(InvalidParameter) -> Value {
        do throws(InvalidSourceURL) { return try value() } catch { throw Self(error.parameter, error.detail) }
    }
}

extension SourceMap {
    package func source(_ text: String, givenAs parameter: String) throws(InvalidSourceURL) -> Source {
        do throws(SourceURLError) {
            return try source(text)
        } catch {
            throw InvalidSourceURL(parameter: parameter, detail: error.description)
        }
    }
    /// The image to draw that a text names: one of ``marks``, or a source.
    package func mark(_ text: String, givenAs parameter: String) throws(InvalidSourceURL) -> Mark {
        guard SourceMap.isMarkName(text) else { return Mark(try source(text, givenAs: parameter)) }
        guard let named = marks[text] else {
            let hint = NameSuggestions.sentence(for: text, among: marks.keys.sorted())
            throw InvalidSourceURL(
                parameter: parameter,
                detail: "There is no mark '\(InvalidParameter.clipped(text))' on this server.\(hint)")
        }
        return named
    }
}

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
