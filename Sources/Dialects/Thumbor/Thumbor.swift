package import DarkroomNetwork
package import DarkroomQuery
package import DarkroomRequests

/// The paths of thumbor and imagor: `/{signature or unsafe}/{options}/{image}`.
package struct Thumbor: PathDialect {
    private let key: ThumborKey?
    private let source: ForeignSource

    /// - Parameters:
    ///   - key: The key that signs paths; nil = signatures are not checked, and every path counts as unsigned.
    ///   - base: The prefix of images without a scheme, such as `https://example.com/`; nil = an image that begins with
    ///     a host name is on that host, and any other image is a local file.
    package init(key: ThumborKey? = nil, base: SourcePrefix? = nil) {
        self.key = key
        source = ForeignSource(base: base)
    }

    package var name: Dialect { .thumbor }
    package var routes: [String] { ["/{signature}/**"] }
    package var requiresSignature: Bool { key != nil }

    /// The most bytes of a path. Longer paths are refused before they are read.
    static let maxBytes = 32_768

    package func translate(_ target: Substring, limits: QueryLimits) throws(AuthorizationError) -> PathTranslation {
        guard target.utf8.count <= Self.maxBytes else {
            throw .invalidParameter(
                InvalidParameter("path", "The path has more than \(Self.maxBytes) bytes."))
        }
        let path = target.hasPrefix("/") ? target.dropFirst() : target
        let first = path.utf8.firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
        let signed = try signed(path[first...].dropFirst(), by: path[..<first])
        let draft = try AuthorizationError.wrapping(ThumborDraft(ThumborPath(parsing: signed.text), source: source))
        var translation = PathTranslation(
            of: signed.text, query: try AuthorizationError.wrapping(draft.query(limits)), expires: draft.expires,
            ignored: draft.ignored)
        translation.canonicalTarget = signed.target.flatMap { $0.utf8.elementsEqual(target.utf8) ? nil : $0 }
        return translation
    }

    /// What a key has signed of the text after a signature, and the only target that asks for it; nil for an unsigned
    /// path. Throws for a wrong signature.
    private func signed(
        _ path: Substring, by signature: Substring
    ) throws(AuthorizationError) -> (text: VerifiedText, target: String?) {
        guard signature != "unsafe", let key else { return (.unsigned(path), nil) }
        guard let signature = PercentEncoding.decode(signature.utf8) else { throw .pathSignatureWrong }
        // thumbor does not sign what follows a '?', and ignores it. An image's own query may be signed here.
        for path in [path, path.prefix { $0 != "?" }] {
            guard let text = key.verify(path, by: signature) else { continue }
            let isSignedAsSent = text.text.utf8.elementsEqual(path.utf8)
            return (text, "/\(signature)/\(isSignedAsSent ? String(path) : Self.sent(text.text))")
        }
        throw .pathSignatureWrong
    }

    /// How a path is sent that was signed before it was encoded: as it is, or with the bytes encoded that no path may
    /// have.
    private static func sent(_ path: String) -> String {
        let encoded = PercentEncoding.encode(path, allowing: .path)
        return encoded.replacing("%25", with: "%") == path ? path : encoded
    }
}
