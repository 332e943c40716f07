import CoreMetrics
import DarkroomCache
import DarkroomHTTPServer
import DarkroomPipeline

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
