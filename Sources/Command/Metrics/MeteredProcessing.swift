import CoreMetrics
import DarkroomHTTPServer
import DarkroomMachine
import DarkroomRequests
import DarkroomTransforms
import NIOCore

/// Counts the results of an image processor: variants, bytes saved, and failures by codec.
struct MeteredProcessing: ImageProcessing {
    static let help = [
        "darkroom_variants_total": "Encoded variants, by format.",
        "darkroom_variant_bytes_total": "Bytes of encoded variants, by format.",
        "darkroom_variant_original_bytes_total":
            "Bytes of the originals of encoded variants, by format; the difference to the variants is saved.",
        "darkroom_codec_failures_total": "Variants that failed to decode, transform or encode, by codec and reason.",
    ]

    private let processing: any ImageProcessing
    private let metrics: any MetricsFactory
    private let variants: [OutputFormat: Counter]
    private let bytes: [OutputFormat: Counter]
    private let originalBytes: [OutputFormat: Counter]

    init(_ processing: any ImageProcessing, metrics: any MetricsFactory) {
        self.processing = processing
        self.metrics = metrics
        variants = .counters("darkroom_variants_total", by: "format", metrics, \.rawValue)
        bytes = .counters("darkroom_variant_bytes_total", by: "format", metrics, \.rawValue)
        originalBytes = .counters("darkroom_variant_original_bytes_total", by: "format", metrics, \.rawValue)
    }

    func process(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ProcessedImage {
        try counting(job, \.self) { () throws(ImageProcessingError) in
            try processing.process(job, interrupt: interrupt)
        }
    }

    func attempt(
        _ job: ImageJob, within allowance: JobAllowance, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> JobAttempt {
        try counting(job, \.image) { () throws(ImageProcessingError) in
            try processing.attempt(job, within: allowance, interrupt: interrupt)
        }
    }

    private func counting<Value>(
        _ job: ImageJob, _ image: (Value) -> ProcessedImage?, _ body: () throws(ImageProcessingError) -> Value
    ) throws(ImageProcessingError) -> Value {
        do throws(ImageProcessingError) {
            let value = try body()
            guard let image = image(value) else { return value }
            variants[image.format]?.increment()
            bytes[image.format]?.increment(by: image.body.readableBytes)
            originalBytes[image.format]?.increment(by: job.sharedSource.count)
            return value
        } catch {
            let dimensions = [("codec", job.codec(for: error)), ("reason", error.label)]
            Counter(label: "darkroom_codec_failures_total", dimensions: dimensions, factory: metrics).increment()
            throw error
        }
    }

    func plan(_ job: ImageJob, interrupt: @escaping @Sendable () -> Bool) throws(ImageProcessingError) -> ImagePlan {
        try processing.plan(job, interrupt: interrupt)
    }

    func withdraw(_ job: ImageJob) { processing.withdraw(job) }

    func removeDecoded(identity: String) { processing.removeDecoded(identity: identity) }

    func shrinkMemory(toFraction fraction: Double) { processing.shrinkMemory(toFraction: fraction) }
}

extension ImageJob {
    /// The codec that failed: the encoder, or else the decoder.
    fileprivate func codec(for error: ImageProcessingError) -> String {
        if case .encodingFailed = error, let format = output.format { return format.rawValue }
        if case .mark(let cause, let name) = error {
            guard cause != .unsupported, let image = drawnImage(name) else { return "none" }
            return (SourceFormat(signatureOf: image.bytes.buffer) ?? .svg).rawValue
        }
        if error == .unsupported { return "none" }
        // SVG is the only decodable format without a signature in its first bytes.
        return (SourceFormat(signatureOf: source) ?? .svg).rawValue
    }
}

extension ImageProcessingError {
    fileprivate var label: String {
        switch self {
        case .unsupported: "unsupported"
        case .missingDecoder, .outdatedDecoder: "missing_decoder"
        case .corrupt: "corrupt"
        case .tooLarge: "too_large"
        case .badParameter: "bad_parameter"
        case .interrupted: "interrupted"
        case .transformFailed: "transform"
        case .encodingFailed: "encoding"
        case .mark(let error, _): error.label
        }
    }
}
