package import DarkroomRequests

/// The server's limits on queries.
package struct QueryLimits: Hashable, Sendable {
    /// Pixels of the longer side of a result, which bounds `w` and `h` before and after `dpr`.
    package var maxOutputSide: Int
    /// The largest number of frames or pages that `n` may ask for.
    package var maxFrames: Int
    package var defaultDamaged: DamagePolicy
    package var defaultGamut: Gamut
    /// The formats for which the server has no encoder.
    package var unwritable: Set<OutputFormat> = []
    /// Whether the server looks for faces.
    package var findsFaces = true

    package init(
        maxOutputSide: Int = 8192, maxFrames: Int = PixelLimits.unlimitedFrames,
        defaultDamaged: DamagePolicy = .refuse, defaultGamut: Gamut = .sRGB
    ) {
        self.maxOutputSide = maxOutputSide
        self.maxFrames = maxFrames
        self.defaultDamaged = defaultDamaged
        self.defaultGamut = defaultGamut
    }

    /// Throws if the server does not look for faces.
    func requireFaces(_ parameter: String) throws(InvalidParameter) {
        try require(
            findsFaces, parameter,
            "Parameter '\(parameter)' refers to faces, which this server does not look for; its operator can turn on "
                + "the setting faces.")
    }

    /// Throws if the server has no encoder for the format.
    func requireWritable(_ format: OutputFormat, parameter: String) throws(InvalidParameter) {
        try require(
            !unwritable.contains(format), parameter,
            "Parameter '\(parameter)' cannot be \(format.rawValue): \(format.reasonWithoutEncoder).")
    }
}

/// A parameter as forms need it.
package struct ParameterSummary: Encodable, Hashable, Sendable {
    package let name: String
    /// The values as a phrase, such as "an integer from 1 to 8192".
    package let values: String
}

/// The grammar of `/image` and `/info` queries.
package struct ImageQueryGrammar: Sendable {
    package let limits: QueryLimits
    /// The dialect of queries that do not name theirs.
    package let dialect: Dialect
    let table: ParameterTable<ImageQueryDraft>

    /// The grammar of `/image`.
    package init(limits: QueryLimits = QueryLimits(), dialect: Dialect = .darkroom) {
        self.init(limits, dialect, ImageParameters.rows(limits)) { _ in }
    }

    private init(
        _ limits: QueryLimits, _ dialect: Dialect, _ rows: [ImageParameters.Row],
        initial change: (inout ImageQueryDraft) -> Void
    ) {
        self.limits = limits
        self.dialect = dialect
        var draft = ImageQueryDraft(limits)
        change(&draft)
        let drawsParts = rows.contains { $0.name == "layers" }
        table = ParameterTable(rows, families: drawsParts ? PartParameters.families(limits) : [], initial: draft)
    }

    /// The grammar of `/info`, which is `/image` with `output=json` and without parameters that need pixels to change.
    package static func info(limits: QueryLimits = QueryLimits()) -> ImageQueryGrammar {
        Self(limits, .darkroom, ImageParameters.infoRows(limits)) { $0.format = .format(.json) }
    }

    /// The grammar of `POST /image`: the grammar of `/image` without `url`.
    package static func upload(limits: QueryLimits = QueryLimits()) -> ImageQueryGrammar {
        Self(limits, .darkroom, ImageParameters.uploadRows(limits)) {
            ($0.query.store, $0.query.isUpload) = (.none, true)
        }
    }

    /// Reads a query of the grammar of uploads.
    package func parseUpload(_ query: QueryString, hints: ClientHints? = nil) throws(InvalidParameter) -> ImageQuery {
        try require(
            !query.contains("url"), "url",
            "Parameter 'url' does not apply to an image in the body; remove it, or send GET without a body.")
        var image = try parse(query, hints: hints)
        // No preferred format is encoded for later, because the next request has to send the bytes again.
        image.waitsForBest = true
        return image
    }

    /// Name and values of every parameter that the server supports, in the order of the documentation.
    package var summaries: [ParameterSummary] {
        table.parameters.filter { limits.findsFaces || !["facezoom", "redact"].contains($0.name) }.map {
            ParameterSummary(name: $0.name, values: $0.schema.expected)
        }
    }

    /// Reads a query as received after the `?`.
    package func parse(_ query: String) throws(InvalidParameter) -> ImageQuery {
        try parse(QueryString(parsing: query))
    }

    /// Reads a query. The client's hints are nil if the server does not use them.
    package func parse(_ query: QueryString, hints: ClientHints? = nil) throws(InvalidParameter) -> ImageQuery {
        try table.read(translation(of: query)?.query ?? query).finished(limits, hints)
    }

    /// What a query in another dialect means in Darkroom's parameters; nil for one that is written in them.
    package func translation(of query: QueryString) throws(InvalidParameter) -> Translation? {
        guard table.contains(Dialect.parameter) else { return nil }
        return try Translation(query, from: Dialect.of(query, standard: dialect), limits: limits)
    }

    /// Reads a query whose source is given elsewhere, such as the query of a preset. Its ``ImageQuery/url`` has no
    /// meaning.
    func parseWithoutSource(_ query: QueryString, elsewhere: String) throws(InvalidParameter) -> ImageQuery {
        guard !query.contains("url") else { throw InvalidParameter("url", elsewhere) }
        // Last, since an unknown parameter after a URL may be the rest of it.
        return try parse(QueryString(pairs: query.pairs + [QueryString.Pair(name: "url", value: "file")]))
    }
}

/// The grammar of `/explain` queries: the grammar of `/image`, and `fetch`.
package struct ExplainGrammar: Sendable {
    private let grammar: ImageQueryGrammar
    let table: ParameterTable<Draft>

    struct Draft: Sendable {
        var image: ImageQueryDraft
        var fetch = false
    }

    /// - Parameter dialect: The dialect of queries that do not name theirs.
    package init(limits: QueryLimits, dialect: Dialect = .darkroom) {
        grammar = ImageQueryGrammar(limits: limits, dialect: dialect)
        let fetch = Parameter<Draft>(
            Self.fetch, .boolean, \.fetch, .caching, .fetch,
            "Fetches the source if it is not cached, so that the plan can be explained.")
        table = ParameterTable(
            grammar.table.parameters.map { Parameter($0, in: \Draft.image) } + [fetch],
            families: grammar.table.families.map { ParameterFamily($0, in: \Draft.image) },
            initial: Draft(image: grammar.table.initial))
    }

    /// Reads a query. The client's hints are nil if the server does not use them.
    package func parse(
        _ query: QueryString, hints: ClientHints? = nil
    ) throws(InvalidParameter) -> (image: ImageQuery, fetch: Bool) {
        var given = query
        if let translation = try translation(of: query) {
            given = QueryString(pairs: translation.query.pairs + query.pairs.filter { $0.name == Self.fetch })
        }
        let draft = try table.read(given)
        return (try draft.image.finished(grammar.limits, hints), draft.fetch)
    }

    /// What a query in another dialect means in Darkroom's parameters; nil for one that is written in them.
    package func translation(of query: QueryString) throws(InvalidParameter) -> Translation? {
        try grammar.translation(of: QueryString(pairs: query.pairs.filter { $0.name != Self.fetch }))
    }

    private static let fetch = "fetch"
}

/// The parameters of `/image` without the source, for an image in a file: same meaning, same error sentences.
package struct FileQuery: Sendable {
    package let recipe: Recipe
    package let pages: PageSelection
    package let output: OutputOptions

    /// - Parameter parameters: Names and values, not percent-encoded; nil = given without a value.
    package init(
        _ parameters: [(name: String, value: String?)], limits: QueryLimits = QueryLimits()
    ) throws(InvalidParameter) {
        let query = QueryString(pairs: parameters.map { QueryString.Pair(name: $0.name, value: $0.value) })
        let image = try ImageQueryGrammar(limits: limits).parseWithoutSource(
            query, elsewhere: "Parameter 'url' does not apply to a file.")
        try require(image.mark == nil, "mark", "Parameter 'mark' does not apply to a file.")
        try require(
            image.recipe.layers.isEmpty && image.parts.isEmpty, "layers",
            "Named images and texts do not apply to a file.")
        recipe = image.recipe
        pages = image.pages
        output = image.output
    }

    /// The themes of the parameters that change a file.
    private static let themes: [ParameterDocumentation.Theme] = [
        .size, .geometry, .color, .effects, .composition, .encoding,
    ]

    /// The parameters that change a file.
    package static var parameters: [(name: String, summary: String, schema: ValueSchema)] {
        ImageQueryGrammar().table.parameters.filter { themes.contains($0.documentation.theme) }.map {
            ($0.name, $0.documentation.summary, $0.schema)
        }
    }

    /// The same parameters by the themes of the reference page: a line for each theme, with the names as flags.
    package static var flagsByTheme: String {
        let parameters = ImageQueryGrammar().table.parameters
        let lines = themes.map { theme in
            let flags = parameters.filter { $0.documentation.theme == theme }.map { "--\($0.name)" }
            return "\(theme.rawValue): \(flags.joined(separator: " "))"
        }
        return lines.joined(separator: "\n")
    }

    /// Whether a word that follows a parameter's name on a command line is its value: never for a boolean, and only a
    /// number for a parameter that may also stand alone.
    package static func isValue(_ word: String, of name: String) -> Bool {
        guard let parameter = ImageQueryGrammar().table.parameters.first(where: { $0.name == name }) else {
            return true
        }
        if parameter.schema == .boolean { return false }
        return !parameter.allowsBareName || Double(word) != nil
    }
}

/// The names of the parameters of all endpoints, including the names of wsrv.nl.
package enum ParameterNames {
    package static let all: [String] = {
        var names = ExplainGrammar(limits: QueryLimits()).table.parameters.flatMap { [$0.name] + $0.aliases }
        names += SrcsetGrammar().table.parameters.map(\.name)
        names += AccessParameters.table.parameters.map(\.name)
        names += PurgeParameters.rows.map(\.name)
        names += WsrvTable.names
        // `/explain` reads it before its grammar.
        return names + ["path"]
    }()
}
