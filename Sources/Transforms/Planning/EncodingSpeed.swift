package import DarkroomRequests
import Synchronization

/// How long encoding takes on this machine, by format: measured constants at first, then a moving average of
/// observations relative to them.
package final class EncodingSpeed: Sendable {
    /// The share of an observation in the average.
    private static let weight = 0.1
    /// Smaller images say more about the fixed costs of a job.
    private static let minArea = 20_000
    /// The maximum factor by which observations may move the average away from the constant, up or down.
    private static let maxFactor = 20.0

    private let efforts: EncoderEfforts
    /// The observed times relative to the constants, by the options that the time depends on.
    private let factors = Mutex<[OutputOptions: Double]>([:])

    package init(_ efforts: EncoderEfforts = EncoderEfforts()) {
        self.efforts = efforts
    }

    /// The estimated time of encoding an image.
    ///
    /// - Parameters:
    ///   - format: the format of the result; nil = the format of the options.
    ///   - effort: the effort of the encoder; nil = the configured effort.
    package func duration(
        of size: PixelSize, as output: OutputOptions, _ format: OutputFormat? = nil, effort: Int? = nil
    ) -> Duration {
        guard let format = format ?? output.format else { return .zero }
        let kind = output.kind(as: format)
        let factor = factors.withLock { $0[kind] } ?? 1
        return .nanoseconds(Int64(min(nanoseconds(of: size, as: kind, format, effort) * factor, 1e18)))
    }

    /// Records how long encoding an image took, unless it has the pixel data of its source.
    package func record(_ image: ProcessedImage, as output: OutputOptions) {
        guard let stages = image.stages, !image.format.isText, image.frames == 1,
            image.size.area >= Self.minArea, image.quality?.isSource != true
        else { return }
        let kind = output.kind(as: image.format)
        let duration = stages.encode - (stages.compare ?? .zero)
        let observed = duration / .nanoseconds(1) / nanoseconds(of: image.size, as: kind, image.format, image.effort)
        let bounded = min(max(observed, 1 / Self.maxFactor), Self.maxFactor)
        factors.withLock { $0[kind] = ($0[kind] ?? 1) * (1 - Self.weight) + bounded * Self.weight }
    }

    /// The constant.
    private func nanoseconds(
        of size: PixelSize, as kind: OutputOptions, _ format: OutputFormat, _ effort: Int?
    ) -> Double {
        let area = Double(size.area)
        return area * format.encodingNanoseconds(for: kind, efforts.with(effort, for: format), frameArea: area)
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
