import CoreMetrics
import DarkroomCache
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomRequests

/// Counts images by where they came from, and times the stages that produced them.
struct ImageMetrics: Sendable {
    /// Where the image of one request came from.
    enum Outcome: String, CaseIterable {
        case memoryHit = "hit_memory"
        case diskHit = "hit_disk"
        case sharedHit = "hit_shared"
        /// The variant was produced from a cached original.
        case originalHit = "hit_original"
        /// The origin confirmed the cached entry.
        case revalidated
        /// The origin sent the original.
        case miss
        /// The variant was produced from bytes in the request.
        case upload
        /// A stale response, without contact to the origin.
        case stale
        /// The image of the request's fallback.
        case fallback
        case failure

        /// Whether a fresh variant was cached.
        var isHit: Bool { [.memoryHit, .diskHit, .sharedHit].contains(self) }
    }

    /// The help text of each metric by its name.
    static let help = [
        "darkroom_image_answers_total":
            "Image requests by result: hit_memory, hit_disk, hit_shared, hit_original (made from a cached "
            + "original), revalidated, miss, upload, stale, fallback or failure.",
        "darkroom_image_stage_duration_seconds":
            "Time in each stage of successful image requests: fetch (from the origin or the cached original), "
            + "queue (waiting for a pixel thread), process (decode, transform, encode) and store. Requests that "
            + "share work each count it.",
        "darkroom_response_tags_left_out_total":
            "Purge tags that responses could not have, because of their length, their number or their characters.",
    ]

    private let answers: [Outcome: Counter]
    private let stages: [CoreMetrics.Timer]
    private let leftOutTags: Counter

    init(_ metrics: any MetricsFactory) {
        answers = Outcome.allCases.reduce(into: [:]) { answers, outcome in
            answers[outcome] = Counter(
                label: "darkroom_image_answers_total", dimensions: [("result", outcome.rawValue)], factory: metrics)
        }
        leftOutTags = Counter(label: "darkroom_response_tags_left_out_total", factory: metrics)
        stages = ["fetch", "queue", "process", "store"].map { stage in
            CoreMetrics.Timer(
                label: "darkroom_image_stage_duration_seconds", dimensions: [("stage", stage)], factory: metrics)
        }
    }

    /// Records purge tags that a response could not have.
    func recordLeftOutTags(_ count: Int) { leftOutTags.increment(by: count) }

    /// Records what is said at once, or else what comes of waiting. An image that was found needs no stage.
    func record(_ inquired: Inquired) -> Inquired {
        switch inquired {
        case .found(let image): answers[Outcome(image)]?.increment()
        case .failed, .refused: recordFailure()
        case .waits(let image): return .waits { () async throws(PipelineError) in try await measure(image) }
        }
        return inquired
    }

    private func recordFailure() { answers[.failure]?.increment() }

    /// Records the result of `work`.
    func measure(
        _ work: () async throws(PipelineError) -> ImageResponse
    ) async throws(PipelineError) -> ImageResponse {
        let image = try await countingFailures(work)
        record(image)
        return image
    }

    /// Records a successful request.
    func record(_ image: ImageResponse) {
        answers[Outcome(image)]?.increment()
        let timings = image.timings
        let durations = [timings.fetch, timings.queue, timings.process, timings.store]
        for case (let timer, let duration?) in zip(stages, durations) { timer.record(duration) }
    }

    /// Records only a failure of `work`, whose image is a step to another image.
    func countingFailures<Result>(
        _ work: () async throws(PipelineError) -> Result
    ) async throws(PipelineError) -> Result {
        do throws(PipelineError) {
            return try await work()
        } catch {
            recordFailure()
            throw error
        }
    }
}

extension ImageMetrics.Outcome {
    init(_ image: ImageResponse) {
        let cache = image.cache
        if image.substitutionReason != nil {
            self = .fallback
        } else if cache.isUpload {
            self = .upload
        } else if cache.forwarded != nil {
            self = cache.originStatus == 304 ? .revalidated : .miss
        } else if image.remaining < .zero || cache.staleBecause != nil {
            self = .stale
        } else {
            switch cache.variant {
            case .memory?: self = .memoryHit
            case .disk?: self = .diskHit
            case .shared?: self = .sharedHit
            case nil: self = .originalHit
            }
        }
    }
}

extension AccessLogDetails {
    /// The details of a request for an image, or for a document about an image, that may not be known yet.
    init(_ source: SourceURL, as form: LoggedSource, _ image: ImageResponse? = nil, error: PipelineError? = nil) {
        let failure = error ?? image?.substitutionReason ?? image?.cache.staleBecause
        let originStatus = image?.cache.originStatus ?? failure?.proxyStatus?.receivedStatus
        self.init(
            [
                "format": (image?.format.rawValue).map(Value.text),
                "height": (image?.size.height).map(Value.number),
                "origin-error": (failure?.originError).map(Value.text),
                "origin-status": originStatus.map(Value.number),
                "source": source.logged(as: form).map(Value.text),
                "source-bytes": (image?.sourceBytes).map(Value.number),
                "source-host": .text(source.loggedHost),
                "tier": (image?.cache.detail.text).map(Value.text),
                "width": (image?.size.width).map(Value.number),
            ], isHit: image.map { ImageMetrics.Outcome($0).isHit } ?? false)
    }
}

extension SourceURL {
    /// At most the length of a DNS name; the parser accepts longer ones.
    fileprivate var loggedHost: String {
        switch scheme {
        case .http, .https: String(Substring((host?.description ?? "").utf8.prefix(253)))
        case .s3: origin
        case .local: "local:"
        case .upload: "upload:"
        case .color: "color:"
        }
    }
}

/// How much of a source's URL the access log contains.
package enum LoggedSource: String, CaseIterable, Sendable {
    /// The host, because path and query may contain tokens.
    case host
    /// The URL without its query.
    case path
    /// The URL, with values in its query replaced that may be credentials.
    case full
}

extension SourceURL {
    /// The URL in the log; nil where the host is logged alone.
    func logged(as form: LoggedSource) -> String? {
        guard form != .host, scheme != .upload else { return nil }
        let url = origin + path
        guard form == .full, let query else { return url }
        return url + "?"
            + query.split(separator: "&", omittingEmptySubsequences: false).map(Self.redacted).joined(separator: "&")
    }

    /// A member of a query without a value that may be a credential: by its name, or long enough to be one.
    private static func redacted(_ member: Substring) -> String {
        let equals = member.firstIndex(of: "=")
        let name = member[..<(equals ?? member.endIndex)]
        let value = equals.map { member[$0...].dropFirst() } ?? name
        // A percent sign may hide any name.
        let isNamedSecret =
            name.contains("%") || name.lowercased() == "s"
            || secretWords.contains { name.lowercased().contains($0) }
        guard value.utf8.count >= secretBytes || equals != nil && isNamedSecret else { return String(member) }
        return equals == nil ? "…" : "\(name.utf8.count < secretBytes * 2 ? name : "…")=…"
    }

    private static let secretWords = [
        "auth", "code", "cred", "hash", "hdn", "hmac", "jwt", "key", "pass", "policy", "pwd", "secret", "session",
        "sig", "token", "user",
    ]

    /// The shortest value that is taken for a credential whatever its name.
    private static let secretBytes = 16
}
