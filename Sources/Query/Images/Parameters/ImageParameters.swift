import DarkroomHTTPCaching
import DarkroomRequests

/// The parameters of `/image`, one row each: the only place that defines how a parameter is read, written and
/// documented.
///
/// The names come from weserv/images. To add a parameter, add a row: the grammar, canonical queries, suggestions and
/// the reference page follow from it.
enum ImageParameters {
    typealias Row = Parameter<ImageQueryDraft>

    /// Every parameter of `/image`, in the order of the documentation.
    static func rows(_ limits: QueryLimits) -> [Row] {
        source + size(limits) + geometry + colors + effects + composition + marks(limits) + encoding(limits) + caching
            + delivery
    }

    /// The parameters of `/info`: the parameters of `/image` that apply to a document about an unchanged image, and two
    /// of its own.
    static func infoRows(_ limits: QueryLimits) -> [Row] {
        let shared: Set = ["url", "page", "cache", "store", "wait", "priority", "maxage", "filename"]
        let rows = rows(limits).filter { shared.contains($0.name) }
        return rows.prefix(1) + info(limits) + rows.dropFirst()
    }

    /// The parameters of `POST /image`: the body is the source, and it is never stored.
    static func uploadRows(_ limits: QueryLimits) -> [Row] {
        rows(limits).filter { !["url", Dialect.parameter].contains($0.name) }.map {
            $0.name == "store" ? storeOfUpload : $0
        }
    }

    private static let storeOfUpload = Row(
        "store", .choice(["all": .all, "memory": .memory, "variant": .variants, "none": .none]), \.query.store,
        .caching, .cache,
        "In which tier the result is stored, by the hash of the body.")

    private static let source: [Row] = [
        Row("url", .url, \.query.url, .source, .fetch, "URL of the source image. Required."),
        Row(
            "default", .url, \.query.fallback, .source, .fetch,
            "URL of a fallback image, which gets the same transforms if the source fails; `1` redirects to the source "
                + "instead."),
        Row(
            "default-for", .failures, \.query.fallbackStatuses, .source, .fetch,
            "Failures of the source that `default` is for, by their status; by default, all."),
        Row(
            "digest", .digest, \.query.recipe.digest, .source, .decode,
            "Hash of the source, as `sha256:` and hexadecimal digits; also `md5`, `sha1` and `sha512`. Any other "
                + "source is refused."),
        Row(
            Dialect.parameter, .choice(["darkroom": .darkroom, "wsrv": .wsrv]), \.dialect, .source, .fetch,
            "Query language: `darkroom` for the parameters on this page, or `wsrv` for the parameters of wsrv.nl. The "
                + "default is a setting."),
    ]

    private static let caching: [Row] = [
        Row(
            "cache", .choice(CacheMode.self), \.query.cache, .caching, .cache,
            "Which cached responses are acceptable, in the modes of the Fetch Standard."),
        Row(
            "store",
            .choice(["all": .all, "memory": .memory, "original": .originals, "variant": .variants, "none": .none]),
            \.query.store, .caching, .cache, "Which results are stored, and in which tier."),
        Row(
            "wait", .choice(Waiting.self), \.waiting, .caching, .cache,
            "Delays the response until its entries are on disk (`stored`), or until the preferred format is ready "
                + "(`best`)."),
        // Clients cannot choose `background`, which is for work that has no waiting client.
        Row(
            "priority", .choice(["low": .low, "normal": .normal, "high": .high]), \.query.priority, .caching, .cache,
            "Urgency in the queues; by default the urgency of the `Priority` field."),
        Row(
            "v", .version, \.query.version, .caching, .cache,
            "Version of the image in the URL: each value is a separate variant of the same original."),
        Row("_", .version, \.query.nonce, .caching, .cache, "The same as `v`."),
    ]

    private static let delivery: [Row] = [
        Row("maxage", .lifetime, \.query.maxAge, .delivery, .respond, "Freshness lifetime for the client."),
        Row(
            "filename", .fileName, \.query.fileName, .delivery, .respond,
            "File name in `Content-Disposition`; a final `.*` becomes the extension of the format."),
        Row(
            "attachment", .boolean, \.query.isAttachment, .delivery, .respond,
            "Has browsers save the image instead of showing it."),
        Row(
            "encoding", .choice(["binary": false, "base64": true]), \.query.encodesBase64, .delivery, .respond,
            "Sends the image as it is, or as a `data:` URL in base64."),
    ]

    private static func info(_ limits: QueryLimits) -> [Row] {
        [
            Row(
                "fields", .infoFields(findsFaces: limits.findsFaces), \.infoFields, .encoding, .decode, cost: .high,
                "Details to add to the document, and the tiers that hold the image."),
            Row(
                "gps", .boolean, \.includesPosition, .encoding, .decode,
                "GPS position of the image, on servers that allow it."),
        ]
    }
}

extension ImageQueryDraft {
    fileprivate var infoFields: Set<InfoField>? {
        get {
            guard details != nil || query.includesCaching else { return nil }
            return Set((details.map { [.detail($0)] } ?? []) + (query.includesCaching ? [.caching] : []))
        }
        set {
            details = newValue.map { ImageDetails($0.compactMap(\.detail)) }
            query.includesCaching = newValue?.contains(.caching) == true
        }
    }
}

extension ParameterDocumentation.Step {
    /// A transform of the chain, by the name of its type, which is in a room that queries do not see.
    static func transform(_ name: String) -> Self { Self(name: name) }
}
