import DarkroomNetwork
package import DarkroomQuery

/// The paths of thumbor and imagor: `/{signature or unsafe}/{options}/{image}`.
package struct Thumbor: PathDialect {
    private let key: ThumborKey?
    private let source: ForeignSource
    private let frames: Int?

    /// - Parameters:
    ///   - key: The key that signs paths; nil = signatures are not checked, and every path counts as unsigned.
    ///   - base: The prefix of images without a scheme, such as `https://example.com/`; nil = an image that begins with
    ///     a host name is on that host, and any other image is a local file.
    ///   - frames: The most frames of an animation; nil = all.
    package init(key: ThumborKey? = nil, base: String? = nil, frames: Int? = nil) {
        self.key = key
        self.frames = frames
        source = ForeignSource(base: base)
    }

    package var name: Compatibility { .thumbor }
    package var routes: [String] { ["/{signature}/**"] }
    package var requiresSignature: Bool { key != nil }

    /// The most bytes of a path. Longer paths are refused before they are read.
    static let maxBytes = 32_768

    package func translate(_ target: Substring, limits: QueryLimits) throws(AuthorizationError) -> PathTranslation {
        guard target.utf8.count <= Self.maxBytes else {
            throw .invalidParameter(
                InvalidParameter("path", "The path has more than \(Self.maxBytes) bytes. See docs/thumbor.md."))
        }
        let path = target.drop { $0 == "/" }
        let first = path.utf8.firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
        let (signature, rest) = (path[..<first], path[first...].dropFirst())
        let isSigned = try isSigned(rest, signature)
        let draft = try AuthorizationError.wrapping(
            ThumborDraft(ThumborPath(parsing: rest.drop { $0 == "/" }), source: source, frames: frames))
        return PathTranslation(
            query: try AuthorizationError.wrapping(draft.query(limits)), isSigned: isSigned, expires: draft.expires,
            ignored: draft.ignored)
    }

    /// Whether a path is signed. Throws for a wrong signature.
    private func isSigned(_ path: Substring, _ signature: Substring) throws(AuthorizationError) -> Bool {
        guard signature != "unsafe", let key else { return false }
        guard let given = PercentEncoding.decode(signature.utf8) else { throw .pathSignatureWrong }
        // A client may have signed the path before it encoded it.
        let isValid =
            key.hasSigned(path, as: given)
            || (PercentEncoding.decode(path.utf8).map { key.hasSigned($0, as: given) } ?? false)
        guard isValid else { throw .pathSignatureWrong }
        return true
    }
}
