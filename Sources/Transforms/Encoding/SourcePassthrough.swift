import DarkroomVips
import NIOCore

/// Whether a source that no step changes may be the result, without metadata, where encoding it again saves nothing.
public enum Passthrough: String, Codable, Sendable, CaseIterable {
    /// Every result is encoded again.
    case off
    /// A source in the format of the result is decoded and encoded as usual. If encoding does not make it smaller, the
    /// result is the source's own pixel data.
    case auto
}

/// A source that shows the same image as the encoded result, so that it may be sent in its place.
struct SourcePassthrough {
    private let header: SourceHeader
    private let source: ByteBuffer
    private let maxBytes: Int?
    private let stripping: SourceStripping

    /// Nil unless all of the source has been decoded and reached the encoder as it was, upright, in the format of the
    /// result, and without an owner's notice, which stripping would lose.
    ///
    /// - Parameter result: the chain's result.
    init?(of job: ImageJob, _ header: SourceHeader, framesUsed: Int, as format: OutputFormat, _ result: ImageFrames) {
        guard job.output.passthrough == .auto, !job.isPartial, result.isUnchanged, result.size == header.size,
            framesUsed == header.frames, header.orientation == 1, let stripping = format.row.stripping,
            stripping.format == header.format, CopyrightNotice(of: result.first).isEmpty
        else { return nil }
        self.header = header
        source = job.source
        maxBytes = job.output.maxBytes
        self.stripping = stripping
    }

    /// The source without metadata, if it has at most as many bytes as it takes encoded again. Its header is read once
    /// more and has to say the same.
    func result(insteadOf encoded: ByteBuffer) -> (body: ByteBuffer, quality: ResultQuality)? {
        guard let stripped = stripping.strip(source), stripped.readableBytes <= encoded.readableBytes,
            (try? SourceHeader(of: stripped)) == header
        else { return nil }
        return (stripped, .ofSource(fits: maxBytes.map { stripped.readableBytes <= $0 } ?? true))
    }
}

extension TransformChain {
    /// Whether this chain has returned the decoded pixels unchanged, or changed gray pixels only to equal red, green
    /// and blue.
    ///
    /// - Parameters:
    ///   - result: the chain's result for `decoded`.
    ///   - start: the plan that it began with.
    func hasLeft(_ decoded: ImageFrames, in result: ImageFrames, start: ChainPlan, interrupt: @escaping Interrupt)
        -> Bool
    {
        if result.isIdentical(to: decoded) { return true }
        guard result.size == decoded.size, decoded.first.isPlainGray else { return false }
        let others = TransformChain(transforms.filter { !($0 is ToSRGB) })
        let colorless = try? others.apply(to: decoded, start: start, interrupt: interrupt)
        return colorless?.isIdentical(to: decoded) == true
    }
}

extension VipsImage {
    /// Whether the image has 8-bit gray samples and no profile that gives them another meaning.
    fileprivate var isPlainGray: Bool {
        let profile = blob("icc-profile-data").map(ICCProfile.init)
        return interpretation == "b-w" && isByte && bands <= 2 && profile?.suits(self) != true
    }
}

/// The function that removes the parts of a file that draw nothing.
struct SourceStripping: Sendable {
    /// The format of the files.
    let format: SourceFormat
    /// Returns nil for a file in an unexpected form. The result is never larger than the file.
    let strip: @Sendable (ByteBuffer) -> ByteBuffer?
}
