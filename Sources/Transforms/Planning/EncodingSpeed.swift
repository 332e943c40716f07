import Synchronization

/// How long encoding takes on this machine, by format: measured constants at first, then a moving average of
/// observations.
package final class EncodingSpeed: Sendable {
    /// The share of an observation in the average.
    private static let weight = 0.1
    /// Smaller images say more about the fixed costs of a job.
    private static let minArea = 20_000
    /// The maximum factor by which observations may move the average away from the constant, up or down.
    private static let maxFactor = 20.0

    private let efforts: EncoderEfforts
    /// By the options that the time depends on.
    private let nanosecondsPerPixel = Mutex<[OutputOptions: Double]>([:])

    package init(_ efforts: EncoderEfforts = EncoderEfforts()) {
        self.efforts = efforts
    }

    /// The estimated time of encoding an image.
    ///
    /// - Parameter format: the format of the result; nil = the format of the options.
    package func duration(of size: PixelSize, as output: OutputOptions, _ format: OutputFormat? = nil) -> Duration {
        guard let format = format ?? output.format else { return .zero }
        let kind = output.kind(as: format)
        let each = nanosecondsPerPixel.withLock { $0[kind] } ?? format.encodingNanoseconds(for: kind, efforts)
        return .nanoseconds(Int64(min(Double(size.area) * each, 1e18)))
    }

    /// Records how long encoding an image took.
    package func record(_ image: ProcessedImage, as output: OutputOptions) {
        guard let duration = image.stages?.encode, !image.format.isText, image.frames == 1,
            image.size.area >= Self.minArea
        else { return }
        let kind = output.kind(as: image.format)
        let constant = image.format.encodingNanoseconds(for: kind, efforts)
        let observed = duration / .nanoseconds(1) / Double(image.size.area)
        let bounded = min(max(observed, constant / Self.maxFactor), constant * Self.maxFactor)
        nanosecondsPerPixel.withLock { table in
            table[kind] = (table[kind] ?? constant) * (1 - Self.weight) + bounded * Self.weight
        }
    }
}

extension OutputOptions {
    /// The options that the time of encoding depends on, with one value for all targets and one for all byte limits.
    fileprivate func kind(as format: OutputFormat) -> OutputOptions {
        let options = converted(to: format)
        return OutputOptions(
            format: format, target: options.target.map { _ in .medium }, maxBytes: options.maxBytes.map { _ in 1 },
            lossless: options.lossless, nearLossless: options.nearLossless, palette: options.palette)
    }
}
