import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import DarkroomTransforms
import HTTPTypes

/// An explanation as JSON. Unknown values are omitted.
struct ExplainDocument: Encodable {
    struct Request: Encodable {
        let canonical: String
        /// The URL for clients: absolute if `public-url` is set, and signed if signatures are required.
        let address: String
        let url: String
        let parameters: [CanonicalQuery.Parameter]
    }

    struct Freshness: Encodable {
        let decision: String
        let because: String
        let reason: String
        let rfc: String?
        let lifetimeSeconds: Double?
        let ageSeconds: Double?
        let remainingSeconds: Double?
    }

    struct Format: Encodable {
        let name: String?
        let mimeType: String?
        let reason: String
        /// The preferred format, which replaces this format as soon as the image is encoded in it.
        let upgrade: Upgrade?
    }

    struct Upgrade: Encodable {
        let name: String
        let mimeType: String
        let underWay: Bool
        /// The estimate that is over the setting `avif-budget`.
        let encodingSeconds: Double?
    }

    /// An image that is drawn onto the source.
    struct Part: Encodable {
        /// The parameter that gives it.
        let parameter: String
        let url: String
        let digest: String?
        let remainingSeconds: Double?
    }

    /// The language of the query or path, and its parameters or options that change nothing.
    struct Dialect: Encodable {
        let name: String
        let ignored: [Translation.Ignored]
    }

    struct Limit: Encodable {
        let setting: String
        let value: Int
        let limit: Int
        let share: Double
    }

    /// The purge tags of the response: the value of their field, and the tags that it cannot have.
    struct Tags: Encodable {
        let field: String
        let value: String?
        let leftOut: [String]

        init(_ tags: EdgeTags, in field: TagField) {
            self.field = field.name.rawName
            (value, leftOut) = field.value(of: tags)
        }
    }

    let request: Request
    /// Nil = the query has Darkroom's own parameters.
    var dialect: Dialect?
    /// Their identity hides the target of a short name.
    var keys: Explanation.Keys
    let caches: [EntryDocument]
    let freshness: Freshness
    let format: Format
    let parts: [Part]
    let plan: PlanDocument?
    let planMissing: String?
    let limits: [Limit]
    /// Nil = responses have no tags.
    let tags: Tags?

    init(
        _ explanation: Explanation, of query: ImageQuery, _ authorization: Authorization = Authorization(),
        accept: String?, _ configuration: WebConfiguration
    ) {
        let sources = try? query.sources(configuration.sourceMap)
        request = Request(query, of: explanation, sources, authorization, configuration)
        keys = explanation.keys
        if let shortened = sources?.source.shortened(keys.identity) { keys.identity = shortened }
        caches = explanation.caches.map { EntryDocument($0) }
        freshness = Freshness(explanation.freshness)
        format = Format(explanation, query, accept: accept, configuration)
        let spelled = query.spellingParts(by: configuration.sourceMap)
        parts = explanation.parts.map { part in
            let spelling = part.name.isEmpty ? spelled.mark : spelled.parts.first { $0.name == part.name }?.source
            return Part(
                parameter: PartImage.parameter(of: part.name), url: spelling ?? part.source,
                digest: part.contentDigest, remainingSeconds: part.remaining?.inSeconds)
        }
        tags = configuration.responseTags.field.map { Tags(explanation.tags, in: $0) }
        var limits = explanation.limits
        switch explanation.plan {
        case .planned(let plan):
            (self.plan, planMissing) = (PlanDocument(plan), nil)
            limits.insert(
                LimitUsage(setting: "max-source-bytes", value: plan.sourceBytes, limit: configuration.maxSourceBytes),
                at: 0)
        case .missing(let reason): (plan, planMissing) = (nil, reason)
        }
        self.limits = limits.map {
            Limit(setting: $0.setting, value: $0.value, limit: $0.limit, share: $0.share.thousandths)
        }
    }
}

extension ExplainDocument.Request {
    fileprivate init(
        _ query: ImageQuery, of explanation: Explanation,
        _ sources: (source: SourceMap.Source, fallback: SourceMap.Source?)?, _ authorization: Authorization,
        _ configuration: WebConfiguration
    ) {
        var query = query
        query.url = sources?.source.spelling ?? explanation.source
        if !query.redirectsToSource { query.fallback = sources?.fallback?.spelling ?? explanation.fallback }
        query = query.spellingParts(by: configuration.sourceMap)
        let urls = ImageURLBuilder(configuration)
        self.init(
            canonical: "/image?" + urls.canonical(query).text, address: urls.url(of: query, for: authorization),
            url: query.url,
            parameters: CanonicalQuery(query, limits: configuration.limits).parameters.filter { $0.name != "url" })
    }
}

extension ImageQuery {
    /// The query with the canonical spellings of the images that it draws.
    fileprivate func spellingParts(by map: SourceMap) -> ImageQuery {
        var query = self
        query.mark = mark.map { NamedImage("", $0).spelled(by: map).source }
        query.parts = parts.map { $0.spelled(by: map) }
        return query
    }
}

extension ExplainDocument.Freshness {
    fileprivate init(_ verdict: Explanation.Verdict) {
        let evaluation = verdict.evaluation
        self.init(
            decision: evaluation.decision.name, because: evaluation.reason.rawValue, reason: evaluation.explanation,
            rfc: evaluation.section, lifetimeSeconds: verdict.lifetime?.inSeconds, ageSeconds: verdict.age?.inSeconds,
            remainingSeconds: verdict.remaining?.inSeconds)
    }
}

extension ExplainDocument.Format {
    fileprivate init(
        _ explanation: Explanation, _ query: ImageQuery, accept: String?, _ configuration: WebConfiguration
    ) {
        self.init(
            name: explanation.format?.rawValue, mimeType: explanation.format?.mediaType,
            reason: Self.replacement(explanation)
                ?? FormatNegotiation.reason(
                    for: query, accept: accept, of: configuration.negotiation.choices(for: query)),
            upgrade: explanation.upgrade.map { upgrade in
                ExplainDocument.Upgrade(
                    name: upgrade.format.rawValue, mimeType: upgrade.format.mediaType, underWay: upgrade.isUnderWay,
                    encodingSeconds: upgrade.encodingTime?.inSeconds)
            })
    }

    /// The reason of a format that replaces the preferred one; nil = it is the preferred one.
    private static func replacement(_ explanation: Explanation) -> String? {
        if let outdone = explanation.outdoneFormat {
            return "As \(outdone.rawValue), the image would not be smaller, or would lose detail of a drawing."
        }
        guard case .planned(let plan) = explanation.plan, let preferred = plan.preferredFormat,
            plan.format == explanation.format
        else { return nil }
        return "Encoding as \(preferred.rawValue) would take longer than 'max-processing-time', or too much memory, so "
            + "it is the next cheaper format."
    }
}

extension CacheDecision {
    fileprivate var name: String {
        switch self {
        case .use: "use"
        case .useAndRevalidate: "use-and-revalidate"
        case .ask: "ask"
        case .refuse: "refuse"
        }
    }
}

extension Duration {
    /// Seconds with three decimals.
    var inSeconds: Double { (self / .seconds(1)).thousandths }
}

extension Double {
    /// Rounded to three decimals.
    var thousandths: Double { (self * 1_000).rounded() / 1_000 }
}
