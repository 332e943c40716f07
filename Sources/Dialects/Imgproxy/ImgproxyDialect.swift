package import DarkroomNetwork
package import DarkroomQuery
package import DarkroomRequests

/// The paths of imgproxy: `/{signature}/{options}/plain/{url}@{extension}`, or with the URL in base64 and a dot before
/// the extension.
package struct ImgproxyDialect: PathDialect {
    /// The settings of a server, each after a variable of imgproxy.
    package struct Rules: Sendable {
        /// Pairs of key and salt.
        package var keys: ImgproxyKeys
        /// The prefix that source URLs get unless they begin with it; nil = none.
        package var base: SourcePrefix?
        /// Whether paths have the names of presets in place of options.
        package var onlyPresets = false
        /// The most frames of an animation.
        package var animationFrames = 1
        /// The URL or the name of the image that `watermark` draws; nil = none.
        package var watermark: String?
        /// Formats that results have if the client accepts them and the path names none, the preferred one first.
        package var preferredFormats: [String] = []

        package init(keys: ImgproxyKeys) { self.keys = keys }
    }

    private let rules: Rules
    private let presets: ImgproxyPresets

    /// - Parameter presets: definitions such as `thumb=resize:fill:200:200/quality:80`.
    package init(_ rules: Rules, presets: [String] = []) throws(ImgproxyPresets.Flaw) {
        self.rules = rules
        self.presets = try ImgproxyPresets(presets)
    }

    package let name = Dialect.imgproxy
    package let routes = ["/{signature}/**", "/info/{signature}/**"]
    package var requiresSignature: Bool { !rules.keys.isEmpty }

    package func translate(_ target: Substring, limits: QueryLimits) throws(AuthorizationError) -> PathTranslation {
        let path = try AuthorizationError.wrapping(ImgproxyPath(target))
        let signed = rules.keys.verify(path.signed, by: path.signature)
        guard signed != nil || !requiresSignature || ImgproxyPath.unsigned.contains(path.signature) else {
            throw .pathSignatureWrong
        }
        var translation = try AuthorizationError.wrapping(
            self.translation(of: signed?.text ?? .unsigned(path.signed), isInformation: path.isInformation, limits))
        translation.canonicalTarget = signed.map { path.target(by: $0.signature) }.flatMap {
            $0.utf8.elementsEqual(target.utf8) ? nil : $0
        }
        return translation
    }

    private func translation(
        of text: VerifiedText, isInformation: Bool, _ limits: QueryLimits
    ) throws(InvalidParameter) -> PathTranslation {
        let segments = try ImgproxyPath.segments(of: text)
        var reader = ImgproxyReader(
            presets: presets, table: isInformation ? ImgproxyTable.information : ImgproxyTable.image)
        try reader.applyDefaultPreset()
        let source = rules.onlyPresets ? try reader.readPresets(segments) : try reader.readOptions(segments)
        let url = try ImgproxySource(source, rules)
        if let format = url.format { try reader.applyExtension(format) }
        let draft = reader.draft
        return PathTranslation(
            of: text, query: isInformation ? draft.informationQuery(url.url) : draft.imageQuery(url.url, rules, limits),
            expires: draft.expires, hasOnlyPresets: reader.hasOnlyPresets, ignored: draft.ignored)
    }
}

/// A request target, split into the signature and what it signs.
struct ImgproxyPath {
    let signature: Substring
    /// The signed text: the path after the signature, beginning with a slash.
    let signed: String
    /// Whether the path begins with `/info`, which no signature covers.
    let isInformation: Bool
    /// What follows the signature, as received, without the query.
    private let rest: Substring

    /// Texts in the place of a signature that mark a path as unsigned.
    static let unsigned: Set<Substring> = ["unsafe", "insecure", "_", "-"]

    /// The maximum length of a path in bytes. The server itself refuses longer paths.
    private static let maxBytes = 64 << 10
    /// The most segments. A source in base64 may be split anywhere.
    private static let maxSegments = 4096

    init(_ target: Substring) throws(InvalidParameter) {
        try require(
            target.utf8.count <= Self.maxBytes, "path", "The path is too long: it may have \(Self.maxBytes) bytes.")
        var path = target.prefix { $0 != "?" }
        isInformation = path.hasPrefix("/info/")
        path = path.dropFirst(isInformation ? 6 : path.hasPrefix("/") ? 1 : 0)
        guard let slash = path.firstIndex(of: "/"), slash > path.startIndex, path[slash...].utf8.count > 1 else {
            throw InvalidParameter("path", "The path must be /signature/options/source.")
        }
        signature = path[..<slash]
        rest = path[slash...].dropFirst()
        signed = "/" + Self.restored(rest)
    }

    /// The target without its query, which imgproxy ignores, and with a signature in its one spelling.
    func target(by signature: Substring) -> String { "\(isInformation ? "/info" : "")/\(signature)/\(rest)" }

    /// The segments of a signed text, not yet decoded.
    static func segments(of text: VerifiedText) throws(InvalidParameter) -> [Substring] {
        let segments = text.text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        try require(segments.count <= maxSegments, "path", "The path may have at most \(maxSegments) segments.")
        return segments
    }

    /// The path as it was before proxies encoded colons in options or merged slashes in a plain source.
    private static func restored(_ path: Substring) -> String {
        let marker = "/plain/"
        let (options, source): (Substring, Substring?) =
            if path.hasPrefix(marker.dropFirst()) {
                ("", path.dropFirst(marker.count - 1))
            } else if let range = path.firstRange(of: marker) {
                (path[..<range.lowerBound], path[range.upperBound...])
            } else {
                (path, nil)
            }
        // A proxy encodes all colons or none. Otherwise, a signed path would have many spellings.
        let decoded = String(options.contains(":") ? options : options.replacing("%3A", with: ":"))
        guard let source else { return decoded }
        return (decoded.isEmpty ? "" : "\(decoded)/") + "plain/" + separated(source)
    }

    /// A plain source with both slashes after its scheme.
    private static func separated(_ source: Substring) -> String {
        guard let colon = source.firstIndex(of: ":"), colon > source.startIndex,
            case let rest = source[colon...].dropFirst(), rest.hasPrefix("/"), !rest.hasPrefix("//"), rest.count > 1
        else { return String(source) }
        let scheme = source[..<colon]
        return "\(scheme):\(scheme == "local" ? "//" : "/")\(rest)"
    }
}

/// The source of a path, decoded once.
struct ImgproxySource {
    let url: String
    /// The extension; nil = none.
    let format: String?

    init(_ segments: ArraySlice<Substring>, _ rules: ImgproxyDialect.Rules) throws(InvalidParameter) {
        guard let first = segments.first else { throw Self.missing }
        if first == "enc" {
            throw InvalidParameter("url", "Encrypted source URLs are not supported.")
        }
        let isPlain = first == "plain" && segments.count > 1
        let parts = isPlain ? segments.dropFirst() : segments
        let halves = parts.joined(separator: isPlain ? "/" : "")
            .split(separator: isPlain ? "@" : ".", omittingEmptySubsequences: false)
        try require(
            halves.count <= 2, "url",
            "The source is followed by more than one extension: "
                + (isPlain ? "write an @ in a plain URL as %40." : "only one dot may follow base64."))
        guard !halves[0].isEmpty else { throw Self.missing }
        format = halves.count == 2 && !halves[1].isEmpty ? String(halves[1]) : nil
        let text = try isPlain ? PercentEncoding.decode(halves[0].utf8, "url", "The source") : Self.decoded(halves[0])
        try require(!text.utf8.contains(0), "url", "The source contains a NUL byte.")
        if let whole = try? SourceURL(parsing: text), rules.base?.contains(whole) == true {
            url = whole.canonical
        } else {
            url = try rules.base?.canonicalSource(at: text.drop { $0 == "/" }, "url") ?? text
        }
    }

    private static let missing = InvalidParameter(
        "url", "The path has no source: it must end in /plain/URL or in the URL in base64.")

    private static func decoded(_ text: Substring) throws(InvalidParameter) -> String {
        if let url = Base64URL.lenientText(of: text) { return url }
        throw InvalidParameter(
            "url",
            "The source is not UTF-8 in base64url. Begin a plain URL with 'plain/', and separate an option from its "
                + "value by a colon.")
    }
}
