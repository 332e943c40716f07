import DarkroomTransforms
import NIOCore

/// A `ProcessedImage` as a worker sends it, without its bytes. Unlike that, every field is untrusted until ``image(_:of:)``
/// has checked it.
struct WireImage: Codable, Sendable {
    var format: OutputFormat
    var width: Int
    var height: Int
    var frames: Int
    var sourceFormat: SourceFormat
    var isProven: Bool

    init(_ image: ProcessedImage) {
        format = image.format
        width = image.size.width
        height = image.size.height
        frames = image.frames
        sourceFormat = image.sourceFormat
        isProven = image.isProven
    }

    /// The checked image; nil if the values are impossible for the job, as from a compromised worker.
    func image(_ body: ByteBuffer, of job: ImageJob) -> ProcessedImage? {
        let sides = 1...1_000_000_000
        guard sides.contains(width), sides.contains(height), frames > 0,
            job.output.format.map({ $0 == format }) ?? !format.isText
        else { return nil }
        return ProcessedImage(
            body: body, format: format, size: PixelSize(width: width, height: height), frames: frames,
            sourceFormat: sourceFormat, isProven: isProven)
    }
}

extension ImagePlan {
    /// Whether the values are possible, and arithmetic on them cannot overflow an `Int`.
    var isPlausible: Bool {
        let sizes = [sourceSize, size, largest] + steps.map(\.size)
        let numbers = [sourceFrames, sourceBytes, framesUsed, frames, estimatedMemoryBytes]
        return steps.count <= 64 && steps.allSatisfy { $0.name.utf8.count <= 64 } && shrinkOnLoad.isFinite
            && (0...1e18).contains(expectedWork)
            && sizes.allSatisfy { (0...1_000_000_000).contains($0.width) && (0...1_000_000_000).contains($0.height) }
            && numbers.allSatisfy((0...1 << 60).contains)
    }
}

extension ImageProcessingError {
    /// The same error with its texts cut to 1,000 characters.
    var bounded: ImageProcessingError {
        func cut(_ text: String) -> String { String(text.prefix(1000)) }
        return switch self {
        case .unsupported, .interrupted: self
        case .corrupt(let text): .corrupt(cut(text))
        case .tooLarge(let text): .tooLarge(cut(text))
        case .transformFailed(let text): .transformFailed(cut(text))
        case .encodingFailed(let text): .encodingFailed(cut(text))
        case .badParameter(let error):
            .badParameter(TransformError(parameter: cut(error.parameter), reason: cut(error.reason)))
        }
    }
}
