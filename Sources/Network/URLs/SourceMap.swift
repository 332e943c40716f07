/// Short names in place of the beginnings of source URLs: with `shop` for `s3://media/products/`, `shop:shoes/1.jpg` is
/// `s3://media/products/shoes/1.jpg`.
///
/// What follows a name is a relative path behind a ``SourcePrefix``.
package struct SourceMap: Hashable, Sendable {
    /// The targets by name in lower case.
    package private(set) var targets: [String: SourcePrefix] = [:]

    /// The sources that stand by a name of their own for images to draw onto others.
    package private(set) var marks: [String: Mark] = [:]

    package init() {}

    /// Why a name or target is not valid, as a sentence that does not repeat the target.
    package struct Flaw: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    private static let reservedNames: Set = ["color", "data", "file", "http", "https", "local", "s3"]

    /// Adds a name.
    ///
    /// - Parameters:
    ///   - name: 1 to 32 letters, digits, `+`, `-` and `.`, beginning with a letter. Case is ignored.
    ///   - target: an `http:`, `https:`, `s3:` or `local:` URL that ends with `/`, without user, query and fragment.
    package mutating func add(_ name: String, _ target: String) throws(Flaw) {
        let shown = "the name '\(name.prefix(40))'"
        let name = name.lowercased()
        guard name.utf8.count <= 32, SourceURLParser.splitScheme(Array("\(name):".utf8)[...])?.name == name else {
            throw Flaw(
                description: "\(shown) must be 1 to 32 letters, digits, '+', '-' and '.', beginning with a letter.")
        }
        guard !Self.reservedNames.contains(name) else {
            throw Flaw(description: "\(shown) is the name of a URL scheme; use another name.")
        }
        guard targets[name] == nil else { throw Flaw(description: "\(shown) is given twice.") }
        guard let prefix = SourcePrefix(target) else {
            throw Flaw(
                description:
                    "\(shown) must stand for an http, https, s3 or local URL that ends with '/', without user, "
                    + "query and fragment, such as s3://media/products/ or https://img.example.com/.")
        }
        targets[name] = prefix
    }

    /// A source, and how the client spelled it.
    package struct Source: Hashable, Sendable {
        /// What is fetched and cached.
        package let url: SourceURL
        /// The name that the client used, with its target; nil if it sent the URL itself.
        fileprivate let name: (text: String, target: SourceURL)?

        /// Whether the client used a name.
        package var isNamed: Bool { name != nil }

        /// The canonical spelling, which does not reveal the target of a name.
        package var spelling: String { shortened(url.canonical) }

        /// A text that begins with the URL, with the client's name in place of the target.
        package func shortened(_ text: String) -> String {
            guard let name else { return text }
            let target = name.target.canonical
            return "\(name.text):\(text.hasPrefix(target) ? text.dropFirst(target.count) : "")"
        }

        package static func == (left: Source, right: Source) -> Bool {
            left.url == right.url && left.name?.text == right.name?.text
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(url) }
    }

    /// The source that a text names: `name:path`, or an absolute URL.
    package func source(_ text: String) throws(SourceURLError) -> Source {
        guard let (name, target, rest) = split(text) else {
            return Source(url: try SourceURL(parsing: text), name: nil)
        }
        return Source(
            url: try target.source(at: String(decoding: rest, as: UTF8.self)), name: (name, target.url))
    }

    /// The beginning of canonical URLs that a text means, which may begin with a name.
    ///
    /// - Throws: ``SourceURLError/unsupportedScheme(_:)`` if the text begins neither with a name nor like a URL.
    package func prefix(_ text: String) throws(SourceURLError) -> String {
        let prefix = try unlimitedPrefix(text)
        guard prefix.utf8.count <= SourceURL.maximumBytes else { throw .tooLong(limitBytes: SourceURL.maximumBytes) }
        return prefix
    }

    private func unlimitedPrefix(_ text: String) throws(SourceURLError) -> String {
        if let (_, target, rest) = split(text) { return target.url.canonical + String(decoding: rest, as: UTF8.self) }
        guard let (name, rest) = SourceURLParser.splitScheme(Array(text.utf8)[...]) else { throw .missingScheme }
        let scheme = SourceURL.Scheme(rawValue: name)
        guard scheme != nil, scheme != .upload, rest.starts(with: "//".utf8) else {
            throw .unsupportedScheme(name)
        }
        return text
    }

    /// Whether the URL could also be named by a short name.
    package func contains(_ url: SourceURL) -> Bool {
        marks.values.contains { $0.url == url }
            || targets.values.contains { $0.contains(url) }
    }

    // MARK: Marks

    /// An image to draw onto others, and how it was named.
    package struct Mark: Hashable, Sendable {
        /// What is fetched and cached.
        package let url: SourceURL
        /// The canonical spelling, which does not reveal the target of a name.
        package let spelling: String
        /// Whether the name is one of ``SourceMap/marks``.
        package let isNamed: Bool

        /// A mark that a client names by its URL.
        package init(_ source: Source) {
            (url, spelling, isNamed) = (source.url, source.spelling, false)
        }

        fileprivate init(_ name: String, _ source: Source) {
            (url, spelling, isNamed) = (source.url, name, true)
        }
    }

    /// Whether the text is a name rather than a URL: 1 to 32 letters, digits, `-` and `_`, but no colon, which every
    /// URL has.
    package static func isMarkName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
    }

    /// Adds a mark, whose source may begin with a short name that was added before.
    package mutating func addMark(_ name: String, _ source: String) throws(Flaw) {
        let shown = "the mark '\(name.prefix(40))'"
        guard Self.isMarkName(name) else {
            throw Flaw(description: "\(shown) must be named by 1 to 32 letters, digits, '-' and '_'.")
        }
        guard marks[name] == nil else { throw Flaw(description: "\(shown) is given twice.") }
        do throws(SourceURLError) { marks[name] = Mark(name, try self.source(source)) } catch {
            throw Flaw(
                description: "\(shown) must stand for an http, https, s3 or local URL, or for one with a short name of "
                    + "source-map.")
        }
    }

    private func split(_ text: String) -> (name: String, target: SourcePrefix, rest: ArraySlice<UInt8>)? {
        guard !targets.isEmpty, text.utf8.count <= SourceURL.maximumBytes,
            let (name, rest) = SourceURLParser.splitScheme(SourceURLParser.cleaned(text)[...]),
            let target = targets[name]
        else { return nil }
        return (name, target, rest)
    }
}

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
