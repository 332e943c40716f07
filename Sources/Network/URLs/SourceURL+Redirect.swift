extension SourceURL {
    /// The URL that a `Location` field names, relative to this one (RFC 9110 §10.2.2, RFC 3986 §5, with the leniency of
    /// the WHATWG URL Standard), parsed by the same rules as any other. The fragment is dropped.
    ///
    /// - Throws: ``SourceURLError`` as ``init(parsing:)`` does.
    public func resolving(redirect location: String) throws(SourceURLError) -> SourceURL {
        guard location.utf8.count <= Self.maximumBytes else { throw .tooLong(limitBytes: Self.maximumBytes) }
        let cleaned = SourceURLParser.cleaned(location)[...]
        var reference = cleaned.prefix { $0 != UInt8(ascii: "#") }
        if let (name, rest) = SourceURLParser.splitScheme(reference) {
            // `http:picture.jpg` on an http page is relative to every browser.
            guard name == scheme.rawValue, leadingSlashes(rest) < 2 else {
                return try SourceURL(parsing: String(decoding: reference, as: UTF8.self))
            }
            reference = rest
        }
        return try SourceURL(parsing: absolute(reference))
    }

    private func absolute(_ reference: ArraySlice<UInt8>) -> String {
        let text = String(decoding: reference, as: UTF8.self)
        switch (leadingSlashes(reference), reference.first) {
        case (2..., _): return "\(scheme.rawValue):\(text)"
        case (1, _): return origin + text
        case (_, nil): return canonical
        case (_, UInt8(ascii: "?")): return origin + path + text
        default:
            let folder = path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex)
            return origin + folder + text
        }
    }

    private func leadingSlashes(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.prefix(2).prefix { SourceURLParser.isSlash($0) }.count
    }
}
