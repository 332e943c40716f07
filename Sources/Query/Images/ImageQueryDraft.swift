import DarkroomTransforms

/// An image query while its parameters are read or written.
///
/// A parameter that means something by itself goes straight to its place in ``query``. This type adds those whose
/// meaning depends on others, such as `w` on `dpr` and `fpx` on `a`: ``finished(_:)`` resolves them, and
/// ``init(writing:_:)`` is its inverse.
struct ImageQueryDraft: Sendable {
    var query: ImageQuery
    /// CSS pixels, before `dpr`.
    var width: Int?
    var height: Int?
    var pixelRatio = Hundredths.one
    var withoutEnlargement = false
    var place = PlaceName.position(.center)
    var focalX = Self.middle
    var focalY = Self.middle
    var format = OutputName.negotiated
    /// Nil = `fields` was not given.
    var details: ImageDetails?
    var includesPosition = false
    var quality: Int?
    var lossless = OutputOptions().lossless
    var interlaced = OutputOptions().interlaced

    private static let middle = 0.5

    /// What a query without parameters means.
    init(_ limits: QueryLimits) {
        query = ImageQuery(recipe: Recipe(resampling: limits.defaultResampling))
    }

    /// The draft that ``finished(_:)`` makes this query of.
    init(writing query: ImageQuery, _ limits: QueryLimits) {
        self.init(limits)
        self.query = query
        width = query.recipe.box.width
        height = query.recipe.box.height
        place = PlaceName(query.recipe.position)
        switch query.recipe.position {
        case .anchor(let x, let y), .focal(let x, let y): if place == .focal { (focalX, focalY) = (x, y) }
        case .entropy, .attention: break
        }
        format = query.output.format.map(OutputName.format) ?? .negotiated
        details = query.output.details.isEmpty ? nil : query.output.details
        quality = query.output.quality
        lossless = query.output.lossless
        interlaced = query.output.interlaced
    }

    /// The query that the parameters amount to. Values that change nothing become the default, so that equal images
    /// have equal queries.
    func finished(_ limits: QueryLimits) throws(InvalidParameter) -> ImageQuery {
        guard !query.url.isEmpty else {
            throw InvalidParameter(
                "url", "Parameter 'url' is required: the percent-encoded URL of the source image.")
        }
        var query = query
        try resolveBox(&query.recipe, limits)
        query.output = try output()
        return query
    }

    /// Box, fit, position and resampling, each of which means something only with the one before.
    private func resolveBox(_ recipe: inout Recipe, _ limits: QueryLimits) throws(InvalidParameter) {
        guard !(withoutEnlargement && recipe.enlarge) else {
            throw InvalidParameter("we", "Parameter 'we' means enlarge=false and cannot be combined with enlarge=true.")
        }
        let position = try position()
        recipe.box = Box(width: try side("w", width, limits), height: try side("h", height, limits))
        let plain = Recipe(resampling: limits.defaultResampling)
        if recipe.box.width == nil, recipe.box.height == nil {
            (recipe.enlarge, recipe.resampling) = (plain.enlarge, plain.resampling)
        }
        guard recipe.box.size != nil else {
            (recipe.fit, recipe.position) = (plain.fit, plain.position)
            return
        }
        switch recipe.fit {
        case .inside, .outside, .fill: recipe.position = plain.position
        case .cover: recipe.position = position
        case .contain: recipe.position = position.placement
        }
    }

    /// CSS pixels times `dpr`.
    private func side(_ name: String, _ side: Int?, _ limits: QueryLimits) throws(InvalidParameter) -> Int? {
        guard let side else { return nil }
        let pixels = pixelRatio.times(side)
        guard pixels <= limits.maxOutputSide else {
            throw InvalidParameter(
                "dpr",
                "Parameter '\(name)' times 'dpr' must be at most \(limits.maxOutputSide) pixels, got \(pixels).")
        }
        return pixels
    }

    private func position() throws(InvalidParameter) -> Position {
        switch place {
        case .focal: return .focal(x: focalX, y: focalY)
        case .position(let position):
            guard focalX == Self.middle, focalY == Self.middle else {
                throw InvalidParameter(
                    focalX == Self.middle ? "fpy" : "fpx", "Parameters 'fpx' and 'fpy' require a=focal.")
            }
            return position
        }
    }

    private func output() throws(InvalidParameter) -> OutputOptions {
        if case .format(let format) = format, format.isText, !query.placeholders.isEmpty {
            throw InvalidParameter(
                "placeholder",
                "Parameter 'placeholder' requires an image, and output=\(format.rawValue) is not one.")
        }
        guard details == nil || format == .format(.json) else {
            throw InvalidParameter("fields", "Parameter 'fields' requires output=json.")
        }
        switch format {
        case .negotiated: return OutputOptions(quality: quality, lossless: lossless, interlaced: interlaced)
        case .format(let format):
            return OutputOptions(
                format: format, quality: quality, lossless: lossless, interlaced: interlaced,
                details: (details ?? []).union(includesPosition ? .position : []))
        }
    }
}

extension Position {
    /// What `contain` makes of a position: it cuts nothing, so there is no content to choose by.
    fileprivate var placement: Position {
        switch self {
        case .anchor: self
        case .focal(let x, let y): .anchor(x: x, y: y)
        case .entropy, .attention: .center
        }
    }
}
