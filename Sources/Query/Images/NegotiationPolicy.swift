package import DarkroomRequests

/// How the server chooses the form of an image by the header fields of a request (RFC 9110 §12.1).
package struct NegotiationPolicy: Hashable, Sendable {
    /// The formats that `output=auto` may choose, the preferred one first.
    package var formats: FormatList
    /// Whether `Sec-CH-DPR` and `Sec-CH-Width` set the size of images whose URL does not.
    package var usesClientHints: Bool
    /// The formats for which the server has no encoder. They are never chosen, even where a query lists them.
    package var unwritable = FormatList()

    package init(formats: FormatList = FormatList([.avif, .webp]) ?? FormatList(), usesClientHints: Bool = false) {
        self.formats = formats
        self.usesClientHints = usesClientHints
    }

    /// What the field `Accept` and the fields about the connection mean for a query. Requests with equal preferences
    /// get the same image.
    package func preferences(
        of query: ImageQuery, accept: String?, connection: ConnectionHints
    ) -> ClientPreferences {
        var preferences = ClientPreferences()
        if connection.isSlow { preferences.quality = query.slowQuality }
        guard query.isNegotiated else { return preferences }
        let field = AcceptField(accept)
        preferences.formats = field.named(of: choices(for: query))
        if !preferences.formats.contains(.webp) { preferences.excluded = field.excluded }
        return preferences
    }

    /// The formats that an image may have besides its own, the preferred one first.
    package func choices(for query: ImageQuery) -> FormatList { (query.formats ?? formats).removing(unwritable) }

    /// The names of the request fields that the image depends on, as `Vary` lists them; nil = none.
    package func vary(of query: ImageQuery) -> String? {
        var names: [String] = []
        if query.isNegotiated { names.append("Accept") }
        if query.slowQuality != nil { names += ConnectionHints.fieldNames }
        if query.dependsOnClientHints { names += ClientHints.fieldNames }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// The names of the request fields that browsers have to be asked for, as `Accept-CH` lists them; nil = none.
    package func acceptCH(of query: ImageQuery) -> String? {
        let names =
            (usesClientHints ? ClientHints.fieldNames : [])
            + (query.slowQuality == nil ? [] : ConnectionHints.requestedNames)
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }
}

/// What the header fields of a request say about the form of the image.
package struct ClientPreferences: Hashable, Sendable {
    /// The formats that the client accepts, best first; empty if the format is not negotiated.
    package var formats = FormatList()
    /// The formats that the client may not show; empty if the format is not negotiated, or may be WebP, which holds
    /// every image.
    package var excluded = FormatSet()
    /// The quality instead of the query's quality; nil = the query's quality.
    package var quality: Int?

    package init() {}

    /// Whether the client shows no format that could be a first format.
    fileprivate var showsOnlyBest: Bool {
        OutputFormat.chosen.allSatisfy { $0 == .avif || excluded.contains($0) }
    }
}

extension ImageQuery {
    /// The encoding for a client.
    package func output(for preferences: ClientPreferences) -> OutputOptions {
        guard let best = best(of: preferences) else { return limited(output, preferences) }
        let alternative = preferences.formats.contains(.webp) ? AlternativeFormat.webp : .natural
        return limited(output.converted(to: best, alternative: alternative), preferences)
    }

    /// The output to answer with while the preferred output takes too long; nil if the preferred output is quick.
    package func interimOutput(for preferences: ClientPreferences) -> OutputOptions? {
        guard let best = best(of: preferences), best != .webp, !waitsForBest, !waitsForDisk,
            !preferences.showsOnlyBest
        else { return nil }
        return limited(
            preferences.formats.contains(.webp)
                ? output.converted(to: .webp, alternative: .natural) : output.converted(to: nil), preferences)
    }

    /// The preferred format that the client accepts; nil = none. Without loss, AVIF is the largest, and the
    /// near-lossless mode is WebP's.
    private func best(of preferences: ClientPreferences) -> OutputFormat? {
        let formats = preferences.formats.formats
        guard output.lossless || output.nearLossless else { return formats.first }
        return formats.first { output.nearLossless ? $0 == .webp : $0 != .avif } ?? formats.first
    }

    /// The options without formats that the client may not show, and with the quality for a slow connection.
    private func limited(_ options: OutputOptions, _ preferences: ClientPreferences) -> OutputOptions {
        var options = options
        options.excluded = preferences.excluded
        if let quality = preferences.quality { (options.quality, options.target) = (quality, nil) }
        return options.converted(to: options.format, alternative: options.alternative)
    }
}

extension OutputOptions {
    /// Whether the image can have a format and a mode with a quality.
    var mayBeLossy: Bool { !lossless && format.map { $0.isLossy && !nearLossless } ?? true }
}
