import StructuredFieldValues

extension CacheDirectives {
    /// Reads a `CDN-Cache-Control` field, its lines joined by commas (RFC 9213 §2.1).
    ///
    /// Nil, so that `Cache-Control` counts instead, where the field is empty, is no dictionary of RFC 9651, or gives a
    /// directive a value of another type. Of several values of one name the last counts. A field that is too long to be
    /// read may forbid anything, so it forbids to keep the response.
    init?(targeted text: String) {
        // Decoding costs the square of the members' number, so that a long field would be an attack.
        self.init()
        guard text.utf8.count <= Self.maxTargetedBytes else {
            noStore = true
            return
        }
        guard text.utf8.contains(where: { $0 != 0x20 }),
            let field = try? StructuredFieldValueDecoder().decode(TargetedField.self, from: Array(text.utf8))
        else { return nil }
        noStore = field.noStore ?? false
        isPrivate = field.isPrivate?.isSet ?? false
        noCache = field.noCache?.isSet ?? false
        mustRevalidate = field.mustRevalidate ?? false
        proxyRevalidate = field.proxyRevalidate ?? false
        mustUnderstand = field.mustUnderstand ?? false
        isImmutable = field.isImmutable ?? false
        maxAge = field.maxAge.map(Stated.init)
        sharedMaxAge = field.sharedMaxAge.map(Stated.init)
        staleWhileRevalidate = field.staleWhileRevalidate.map(Stated.init)
        staleIfError = field.staleIfError.map(Stated.init)
    }

    private static let maxTargetedBytes = 2_048
}

extension CacheDirectives.Stated {
    fileprivate init(_ seconds: Int64) {
        self = seconds < 0 ? .invalid : .seconds(min(.seconds(seconds), DeltaSeconds.longest))
    }
}

private struct TargetedField: StructuredFieldValue {
    static let structuredFieldType = StructuredFieldType.dictionary

    var noStore: Bool?
    var isPrivate: Restriction?
    var noCache: Restriction?
    var mustRevalidate: Bool?
    var proxyRevalidate: Bool?
    var mustUnderstand: Bool?
    var isImmutable: Bool?
    var maxAge: Int64?
    var sharedMaxAge: Int64?
    var staleWhileRevalidate: Int64?
    var staleIfError: Int64?

    enum CodingKeys: String, CodingKey {
        case noStore = "no-store"
        case isPrivate = "private"
        case noCache = "no-cache"
        case mustRevalidate = "must-revalidate"
        case proxyRevalidate = "proxy-revalidate"
        case mustUnderstand = "must-understand"
        case isImmutable = "immutable"
        case maxAge = "max-age"
        case sharedMaxAge = "s-maxage"
        case staleWhileRevalidate = "stale-while-revalidate"
        case staleIfError = "stale-if-error"
    }

    /// A directive that is set by itself, or by naming fields.
    struct Restriction: Codable {
        var isSet: Bool

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                isSet = flag
            } else {
                _ = try container.decode(String.self)
                isSet = true
            }
        }
    }
}
