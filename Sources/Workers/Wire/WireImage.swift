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
    /// `ResultQuality.code`; -1 = none.
    var quality = -1
    /// The durations of decoding, transforming and encoding in nanoseconds; -1 = there was no such stage.
    var decoding = -1
    var transforming = -1
    var encoding = -1

    private init() {}

    init(_ image: ProcessedImage) {
        format = image.format
        width = image.size.width
        height = image.size.height
        frames = image.frames
        sourceFormat = image.sourceFormat
        isProven = image.isProven
        quality = image.quality.map { Int($0.code) } ?? -1
        decoding = Self.nanoseconds(image.stages?.decode)
        transforming = Self.nanoseconds(image.stages?.transform)
        encoding = Self.nanoseconds(image.stages?.encode)
    }

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(choice: &format)
        try coder.code(&width)
        try coder.code(&height)
        try coder.code(&frames)
        try coder.code(choice: &sourceFormat)
        try coder.code(&isProven)
        try coder.code(&quality)
        try coder.code(&decoding)
        try coder.code(&transforming)
        try coder.code(&encoding)
    }

    /// The checked image; nil if the values are impossible for the job, as from a compromised worker.
    func image(_ body: ByteBuffer, of job: ImageJob) -> ProcessedImage? {
        let sides = 1...1_000_000_000
        guard sides.contains(width), sides.contains(height), sides.contains(frames),
            job.output.permits(format), quality < 0 || resultQuality != nil,
            resultQuality?.isSource != true || job.output.passthrough == .auto,
            [decoding, transforming, encoding].allSatisfy((-1...Self.maxNanoseconds).contains)
        else { return nil }
        return ProcessedImage(
            body: body, format: format, size: PixelSize(width: width, height: height), frames: frames,
            sourceFormat: sourceFormat, isProven: isProven, quality: resultQuality,
            stages: stages)
    }

    /// A day, which no job takes.
    private static let maxNanoseconds = 86_400_000_000_000

    private var resultQuality: ResultQuality? { UInt8(exactly: quality).flatMap(ResultQuality.init(code:)) }

    private var stages: ProcessingStages? {
        guard let encoding = Self.duration(encoding) else { return nil }
        return ProcessingStages(
            decode: Self.duration(decoding), transform: Self.duration(transforming), encode: encoding)
    }

    private static func nanoseconds(_ duration: Duration?) -> Int {
        duration.map { Int($0 / .nanoseconds(1)) } ?? -1
    }

    private static func duration(_ nanoseconds: Int) -> Duration? {
        nanoseconds < 0 ? nil : .nanoseconds(nanoseconds)
    }
}
