import CoreMetrics
import DarkroomPipeline

/// Counts pictures by what the caches had to do with them, and times what was done for them.
struct ImageMetrics: Sendable {
    /// What became of one request for a picture.
    enum Outcome: String, CaseIterable {
        case memoryHit = "hit_memory"
        case diskHit = "hit_disk"
        /// The variant was made, from an original that was cached.
        case originalHit = "hit_original"
        /// The origin said that what is cached is still right.
        case revalidated
        /// The origin sent the original.
        case miss
        /// An answer past its freshness, without the origin's word on it.
        case stale
        /// The picture of the request's fallback.
        case fallback
        case failure
    }

    static let help = [
        "darkroom_image_answers_total":
            "Pictures asked of the pipeline, by where they came from: hit_memory, hit_disk, hit_original (made from a cached original), revalidated, miss, stale, fallback or failure.",
        "darkroom_image_stage_duration_seconds":
            "Time that answered pictures spent in each stage: fetch (origin, or reading the original), queue (waiting for a pixel thread), process (decode, transform, encode), store. Requests that share work each count it.",
    ]

    private let answers: [Outcome: Counter]
    private let stages: [CoreMetrics.Timer]

    init(_ metrics: any MetricsFactory) {
        let counters = Outcome.allCases.map { outcome in
            (
                outcome,
                Counter(
                    label: "darkroom_image_answers_total", dimensions: [("result", outcome.rawValue)], factory: metrics)
            )
        }
        answers = Dictionary(uniqueKeysWithValues: counters)
        stages = ["fetch", "queue", "process", "store"].map { stage in
            CoreMetrics.Timer(
                label: "darkroom_image_stage_duration_seconds", dimensions: [("stage", stage)], factory: metrics)
        }
    }

    /// Counts what comes of `work`.
    func measure(
        _ work: () async throws(PipelineError) -> ImageResponse
    ) async throws(PipelineError) -> ImageResponse {
        do throws(PipelineError) {
            let picture = try await work()
            answers[Outcome(picture)]?.increment()
            let took = picture.timings
            for case (let timer, let duration?) in zip(stages, [took.fetch, took.queue, took.process, took.store]) {
                timer.record(duration)
            }
            return picture
        } catch {
            answers[.failure]?.increment()
            throw error
        }
    }
}

extension ImageMetrics.Outcome {
    init(_ picture: ImageResponse) {
        let cache = picture.cache
        if picture.fallbackReason != nil {
            self = .fallback
        } else if cache.forwarded != nil {
            self = cache.originStatus == 304 ? .revalidated : .miss
        } else if picture.remaining < .zero || cache.staleBecause != nil {
            self = .stale
        } else {
            switch cache.variant {
            case .memory?: self = .memoryHit
            case .disk?: self = .diskHit
            case nil: self = .originalHit
            }
        }
    }
}
