import CoreMetrics
import DarkroomTransforms
import NIOCore

/// A door to pixels that counts who passes: what was made, what it saves, and which codec failed at what.
struct MeasuredProcessing: ImageProcessing {
    static let help = [
        "darkroom_variants_total": "Variants made, by their format.",
        "darkroom_variant_bytes_total": "Bytes of the variants made, by their format.",
        "darkroom_variant_original_bytes_total":
            "Bytes of the originals that those variants were made from: the difference is what they save.",
        "darkroom_codec_failures_total": "Variants that could not be made, by codec and reason.",
    ]

    private struct Made {
        let variants: Counter
        let bytes: Counter
        let originalBytes: Counter
    }

    private let processing: any ImageProcessing
    private let metrics: any MetricsFactory
    private let made: [OutputFormat: Made]

    init(_ processing: any ImageProcessing, metrics: any MetricsFactory) {
        self.processing = processing
        self.metrics = metrics
        let counters = OutputFormat.allCases.map { format in
            let dimensions = [("format", format.rawValue)]
            let made = Made(
                variants: Counter(label: "darkroom_variants_total", dimensions: dimensions, factory: metrics),
                bytes: Counter(label: "darkroom_variant_bytes_total", dimensions: dimensions, factory: metrics),
                originalBytes: Counter(
                    label: "darkroom_variant_original_bytes_total", dimensions: dimensions, factory: metrics))
            return (format, made)
        }
        made = Dictionary(uniqueKeysWithValues: counters)
    }

    func process(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ProcessedImage {
        // A preview is no variant, and that it could not be made yet is no failure.
        guard !job.isPartial else { return try processing.process(job, interrupt: interrupt) }
        do throws(ImageProcessingError) {
            let image = try processing.process(job, interrupt: interrupt)
            let counters = made[image.format]
            counters?.variants.increment()
            counters?.bytes.increment(by: image.body.readableBytes)
            counters?.originalBytes.increment(by: job.source.readableBytes)
            return image
        } catch {
            let dimensions = [("codec", job.codec(for: error)), ("reason", error.label)]
            Counter(label: "darkroom_codec_failures_total", dimensions: dimensions, factory: metrics).increment()
            throw error
        }
    }

    func plan(_ job: ImageJob, interrupt: @escaping @Sendable () -> Bool) throws(ImageProcessingError) -> ImagePlan {
        try processing.plan(job, interrupt: interrupt)
    }

    func removeDecoded(identity: String) { processing.removeDecoded(identity: identity) }

    func shrinkMemory(toFraction fraction: Double) { processing.shrinkMemory(toFraction: fraction) }
}

extension ImageJob {
    /// The encoder where it failed, else the decoder.
    fileprivate func codec(for error: ImageProcessingError) -> String {
        if case .encodingFailed = error, let format = output.format { return format.rawValue }
        if error == .unsupported { return "none" }
        // Its first bytes are looked at, and no more: what has no signature but is a picture is SVG.
        return (SourceFormat(signatureOf: source) ?? .svg).rawValue
    }
}

extension ImageProcessingError {
    fileprivate var label: String {
        switch self {
        case .unsupported: "unsupported"
        case .corrupt: "corrupt"
        case .tooLarge: "too_large"
        case .badParameter: "bad_parameter"
        case .interrupted: "interrupted"
        case .transformFailed: "transform"
        case .encodingFailed: "encoding"
        }
    }
}
