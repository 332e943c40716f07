package import DarkroomNetwork
package import DarkroomQuery
package import DarkroomRequests

/// The paths of Cloudflare's image transformations: `/cdn-cgi/image/{options}/{source}`.
package struct Cloudflare: PathDialect {
    private let source: ForeignSource

    /// - Parameter origin: The prefix of sources without a scheme, such as `https://example.com/`; nil = such sources
    ///   are local files.
    package init(origin: SourcePrefix? = nil) {
        source = ForeignSource(base: origin, namesHosts: false)
    }

    package var name: Dialect { .cloudflare }
    package var routes: [String] { ["/cdn-cgi/image/**"] }
    /// The paths have no signatures.
    package var requiresSignature: Bool { false }

    /// The most bytes of a path. Longer paths are refused before they are read.
    static let maxBytes = 32_768
    /// The most options of a path.
    static let maxOptions = 64

    package func translate(_ target: Substring, limits: QueryLimits) throws(AuthorizationError) -> PathTranslation {
        try AuthorizationError.wrapping(translation(of: .unsigned(target), limits))
    }

    private func translation(of path: VerifiedText, _ limits: QueryLimits) throws(InvalidParameter) -> PathTranslation {
        try require(
            path.text.utf8.count <= Self.maxBytes, "path",
            "The path has more than \(Self.maxBytes) bytes.")
        let prefix = "/cdn-cgi/image/"
        try require(path.text.hasPrefix(prefix), "path", "The path must begin with \(prefix).")
        let rest = path.text.dropFirst(prefix.count)
        guard let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) else {
            throw InvalidParameter("path", "The path must have options and a source after \(prefix).")
        }
        let draft = try Self.draft(rest[..<slash])
        let url = try source.url(Self.source(rest[slash...].dropFirst()))
        return PathTranslation(of: path, query: draft.query(of: url, limits), ignored: draft.ignored)
    }

    private static func draft(_ text: Substring) throws(InvalidParameter) -> CloudflareDraft {
        let options = text.utf8.split(separator: UInt8(ascii: ","), maxSplits: maxOptions)
        try require(
            !options.isEmpty && options.count <= maxOptions, "options",
            "A path must have 1 to \(maxOptions) options.")
        var draft = CloudflareDraft()
        for option in options {
            let parts = try PercentEncoding.decode(option, "options", "An option")
                .split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            try CloudflareOptions.table.apply(parts[0], parts.count > 1 ? parts[1] : "", to: &draft)
        }
        return draft
    }

    /// The source as a URL. It is decoded only if the path has it encoded as a whole: the escapes of a plain URL are
    /// its own.
    private static func source(_ raw: Substring) throws(InvalidParameter) -> String {
        try require(!raw.isEmpty, "source", "The path names no source: its path or URL follows the options.")
        let decoded = try PercentEncoding.decode(raw.utf8, "source", "The source")
        let isEncoded = !raw.contains("://") && decoded.contains("://")
        // Escapes must not hide forbidden parts of a path.
        try ForeignSource.check(decoded)
        return isEncoded ? decoded : String(raw)
    }
}
