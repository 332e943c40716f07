import DarkroomNetwork

/// The components of a `local:` path, decoded once and known to be harmless names.
struct LocalPath: Equatable {
    let components: [String]

    /// - Parameter path: the path of a `local:` URL, percent-encoded.
    /// - Throws: ``OriginError/Denial/path`` for empty, `.` and `..` components, and for NUL, slashes and bytes that are
    ///   not UTF-8 once decoded. An escape that survives decoding (`%252e`) is an ordinary, odd file name.
    init(_ path: String) throws(OriginError) {
        let encoded = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var components: [String] = []
        for part in encoded {
            let name = String(validating: PercentEncoding.decodeLeniently(Array(part)[...]), as: UTF8.self)
            guard let name, !["", ".", ".."].contains(name), !name.utf8.contains(0), !name.utf8.contains(0x2f) else {
                throw .notAllowed(.path)
            }
            components.append(name)
        }
        self.components = components
    }
}
