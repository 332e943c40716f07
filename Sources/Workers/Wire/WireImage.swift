import DarkroomTransforms
import NIOCore

/// A `ProcessedImage` as a worker sends it, without its bytes. Unlike that, every field is untrusted until
/// ``image(_:of:)`` has checked it.
struct WireImage: WireValue {
    static let blank = WireImage()

    var format = OutputFormat.jpeg
    var width = 0
    var height = 0
    var frames = 0
    var sourceFormat = SourceFormat.jpeg
    var isProven = false

    private init() {}

    init(_ image: ProcessedImage) {
        format = image.format
        width = image.size.width
        height = image.size.height
        frames = image.frames
        sourceFormat = image.sourceFormat
        isProven = image.isProven
    }

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(choice: &format)
        try coder.code(&width)
        try coder.code(&height)
        try coder.code(&frames)
        try coder.code(choice: &sourceFormat)
        try coder.code(&isProven)
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
