import DarkroomNetwork
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

/// What an `Accept` field says about the formats of images (RFC 9110 §12.5.1).
///
/// Of several members for one format the greatest weight counts; members that cannot be parsed are skipped.
package struct AcceptField {
    /// The weights in thousandths, in the order of `OutputFormat.images`; -1 = the format is not named.
    private var weights = SIMD8<Int16>(repeating: -1)
    /// The weights of `image/*` and `*/*`; -1 = they are absent.
    private var (anyImage, anyType): (Int16, Int16) = (-1, -1)
    private var hasOnlyWildcards = true

    /// - Parameter text: nil = the client sends no such field, which means `*/*`.
    package init(_ text: String?) {
        guard let text else {
            anyType = 1_000
            return
        }
        for range in FieldList(text).members where !range.isEmpty {
            let type = Substring(range.utf8.prefix { $0 != UInt8(ascii: ";") }).trimmingBlanks
            let isBare = type.utf8.count == range.utf8.count
            add(type, Int16(isBare ? 1_000 : FormatNegotiation.weight(of: range)))
        }
        if hasOnlyWildcards, anyImage < 0, anyType < 0 { anyType = 1_000 }
    }

    private mutating func add(_ type: Substring, _ weight: Int16) {
        if type == "*/*" {
            anyType = max(anyType, weight)
        } else if type.utf8.equalsIgnoringCase("image/*") {
            anyImage = max(anyImage, weight)
        } else {
            hasOnlyWildcards = false
            let name = Self.names.first { type.utf8.equalsIgnoringCase($0.name) }
            if let place = name?.place { weights[place] = max(weights[place], weight) }
        }
    }

    /// The formats of a list that the field names with a weight above zero: the client's greatest weight first, and in
    /// the order of the list where weights are equal.
    ///
    /// Wildcards do not count: clients that cannot show a format send `image/*` and `*/*` too.
    package func named(of list: FormatList) -> FormatList {
        var (ordered, weights) = (FormatList(), SIMD8<Int16>())
        for place in 0..<list.count { weights[place] = weight(of: list[place]) }
        while let best = (0..<list.count).max(by: { (weights[$0], -$0) < (weights[$1], -$1) }), weights[best] > 0 {
            ordered.append(list[best])
            weights[best] = 0
        }
        return ordered
    }

    /// The formats that the server must not choose for this client.
    ///
    /// All browsers of the last decade show JPEG, PNG and GIF, so a wildcard covers them. All browsers of 2020 show
    /// WebP, so a field of wildcards alone covers it. In a field that names other formats, as the fields of older
    /// browsers do, and for AVIF, only the name counts. A field that covers none of the five leaves JPEG, PNG and GIF.
    package var excluded: FormatSet {
        let excluded = OutputFormat.chosen.reduce(into: FormatSet()) { set, format in
            if !covers(format) { set.insert(FormatSet(format)) }
        }
        return excluded == Self.all ? Self.recent : excluded
    }

    private func covers(_ format: OutputFormat) -> Bool {
        let weight = weight(of: format)
        guard weight < 0 else { return weight > 0 }
        let isUniversal = !Self.recent.contains(format)
        return (anyImage >= 0 ? anyImage : anyType) > 0 && (isUniversal || format == .webp && hasOnlyWildcards)
    }

    private func weight(of format: OutputFormat) -> Int16 {
        OutputFormat.images.firstIndex(of: format).map { weights[$0] } ?? -1
    }

    private static let all = OutputFormat.chosen.reduce(into: FormatSet()) { $0.insert(FormatSet($1)) }
    private static let recent: FormatSet = [FormatSet(.webp), FormatSet(.avif)]

    /// The media types of images, and a frequent misspelling of one.
    private static let names: [(name: String, place: Int)] = OutputFormat.images.enumerated().flatMap { place, format in
        (format == .jpeg ? [format.mediaType, "image/jpg"] : [format.mediaType]).map { (name: $0, place: place) }
    }
}

extension Substring.UTF8View {
    /// Whether these bytes are an ASCII text in lower case, whatever their case.
    fileprivate func equalsIgnoringCase(_ lowercase: String) -> Bool {
        count == lowercase.utf8.count
            && zip(self, lowercase.utf8).allSatisfy { (0x41...0x5A).contains($0) ? $0 | 0x20 == $1 : $0 == $1 }
    }
}

/// The weights and the reasons of formats that `Accept` decides.
package enum FormatNegotiation {
    /// Why a response has its format, which may be one of a list, in one sentence.
    package static func reason(for query: ImageQuery, accept: String?, of list: FormatList) -> String {
        guard query.isNegotiated else { return "The parameter 'output' asks for it." }
        let names = { (list: FormatList) in list.formats.map(\.mediaType).joined(separator: ", ") }
        let accepted = AcceptField(accept).named(of: list)
        guard accepted.isEmpty else { return "Accept names \(names(accepted))." }
        let cause =
            if query.formats?.isEmpty == true {
                "The request lists no formats"
            } else if list.isEmpty {
                "This server has no encoder for the formats of the list"
            } else {
                "Accept does not name \(names(list))"
            }
        return "\(cause), so it is the source's own format, or JPEG or PNG where Accept does not cover that."
    }

    /// The weight among a media range's parameters in thousandths; absent, it is 1000 (RFC 9110 §12.4.2). 0 if it is
    /// malformed.
    static func weight(of range: Substring) -> Int {
        for parameter in FieldList(range, separator: UInt8(ascii: ";")).members.dropFirst() {
            guard let equals = parameter.firstIndex(of: "="), parameter[..<equals].lowercased() == "q" else { continue }
            return weight(parameter[equals...].dropFirst())
        }
        return 1_000
    }

    /// A weight from 0.001 to 1 with at most three decimals; 0 for anything else.
    private static func weight(_ text: Substring) -> Int {
        guard let weight = Digits.decimal(String(text)), text.utf8.count <= 5, weight <= 1 else { return 0 }
        return Int((weight * 1_000).rounded())
    }
}
