import DarkroomTransforms
import Synchronization

/// How long encoding takes on this machine, by format: measured constants at first, then a moving average of what was
/// observed.
final class EncodingSpeed: Sendable {
    fileprivate struct Kind: Hashable {
        let format: OutputFormat
        let lossless: Bool
        let nearLossless: Bool
        /// Whether trial encodes are part of the time.
        let decidesQuality: Bool

        init(_ format: OutputFormat, _ output: OutputOptions) {
            self.format = format
            lossless = output.lossless
            nearLossless = output.nearLossless
            decidesQuality = output.decidesQuality
        }
    }

    /// The share of an observation in the average.
    private static let weight = 0.1
    /// Smaller images say more about the fixed costs of a job.
    private static let minArea = 20_000
    /// How far observations may move the average away from the constant, either way.
    private static let maxFactor = 20.0

    private let nanosecondsPerPixel = Mutex<[Kind: Double]>([:])

    /// The estimated time of encoding an image.
    func duration(of size: PixelSize, as output: OutputOptions) -> Duration {
        guard let format = output.format else { return .zero }
        let kind = Kind(format, output)
        let each = nanosecondsPerPixel.withLock { $0[kind] } ?? kind.constant
        return .nanoseconds(Int64(min(Double(size.area) * each, 1e18)))
    }

    /// Records how long encoding an image took.
    func record(_ image: ProcessedImage, as output: OutputOptions) {
        guard let duration = image.stages?.encode, !image.format.isText, image.frames == 1,
            image.size.area >= Self.minArea
        else { return }
        let kind = Kind(image.format, output)
        let observed = duration / .nanoseconds(1) / Double(image.size.area)
        let bounded = min(max(observed, kind.constant / Self.maxFactor), kind.constant * Self.maxFactor)
        nanosecondsPerPixel.withLock { table in
            table[kind] = (table[kind] ?? kind.constant) * (1 - Self.weight) + bounded * Self.weight
        }
    }
}

extension EncodingSpeed.Kind {
    fileprivate var constant: Double {
        let output = OutputOptions(format: format, lossless: lossless, nearLossless: nearLossless)
        return format.encodingNanoseconds(for: output) * (decidesQuality ? 2 : 1)
    }
}
