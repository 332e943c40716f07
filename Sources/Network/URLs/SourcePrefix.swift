/// The beginning of source URLs. What follows it is a relative path, which cannot lead out of it, neither for us nor
/// for a server that decodes or normalizes paths more than it should.
package struct SourcePrefix: Hashable, Sendable {
    /// Ends with `/`, and has no query.
    package let url: SourceURL

    /// - Parameter text: an `http:`, `https:`, `s3:` or `local:` URL that ends with `/`, without user, query and
    ///   fragment; nil for any other text.
    package init?(_ text: String) {
        guard text.hasSuffix("/"), !text.utf8.contains(where: "?#@\\".utf8.contains) else { return nil }
        // A bucket as a whole has no key yet.
        let sample = try? SourceURL(parsing: text + "x")
        guard let sample, sample.path.hasSuffix("/x") else { return nil }
        url = SourceURL(
            scheme: sample.scheme, host: sample.host, port: sample.port, path: String(sample.path.dropLast()))
    }

    /// The source at a path behind the prefix. Behind the prefix of a web server, it may have a query.
    ///
    /// - Throws: ``SourceURLError/tooLong(limitBytes:)`` or ``SourceURLError/invalidRelativePath``: other errors would
    ///   reveal the prefix.
    package func source(at relative: String) throws(SourceURLError) -> SourceURL {
        let text = url.canonical + relative
        let path = SourceURLParser.cleaned(text).dropFirst(url.canonical.utf8.count).prefix { !"?#".utf8.contains($0) }
        guard !path.isEmpty, Self.staysBelow(path) else { throw .invalidRelativePath }
        let source: SourceURL
        do throws(SourceURLError) { source = try SourceURL(parsing: text) } catch {
            if case .tooLong = error { throw error }
            throw .invalidRelativePath
        }
        guard isBeginning(of: source), source.query == nil || source.scheme.isWeb else { throw .invalidRelativePath }
        return source
    }

    /// Whether ``source(at:)`` could have made the URL.
    package func contains(_ source: SourceURL) -> Bool {
        isBeginning(of: source) && Self.staysBelow(Array(source.path.utf8.dropFirst(url.path.utf8.count))[...])
    }

    private func isBeginning(of source: SourceURL) -> Bool {
        source.scheme == url.scheme && source.host == url.host && source.port == url.port
            && source.path.utf8.starts(with: url.path.utf8)
    }

    /// The number of times that servers may decode a path.
    private static let maxDecodings = 4

    /// Whether a path is relative and has no dot segments, however often it is decoded, with a backslash taken for a
    /// slash, and with `;` and an encoded `?` or `#` taken for the end of the segment, as some servers do.
    private static func staysBelow(_ path: ArraySlice<UInt8>) -> Bool {
        var bytes = Array(path)
        for _ in 0...Self.maxDecodings {
            if let first = bytes.first, SourceURLParser.isSlash(first) { return false }
            let segments = bytes.split(whereSeparator: SourceURLParser.isSlash)
            let hasDots = segments.contains { segment in
                let name = segment.prefix { !";?#".utf8.contains($0) }
                return name == [0x2e] || name == [0x2e, 0x2e]
            }
            guard !hasDots else { return false }
            let decoded = PercentEncoding.decodeLeniently(bytes[...])
            guard decoded != bytes else { return true }
            bytes = decoded
        }
        return false
    }
}
