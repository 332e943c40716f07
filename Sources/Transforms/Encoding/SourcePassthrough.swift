import DarkroomVips
import NIOCore

/// Whether a source that no step changes may be the result, with the metadata of any result, where encoding it again
/// saves nothing.
public enum Passthrough: String, Codable, Sendable, CaseIterable {
    /// Every result is encoded again.
    case off
    /// A source in the format of the result is decoded and encoded as usual. If encoding does not make it smaller, the
    /// result is the source's own pixel data.
    case auto
}

extension ImageJob {
    /// The source with no other metadata than a result, if it shows the same image as the encoded result and has at
    /// most as many bytes. Its header is read once more and has to say the same.
    ///
    /// Nil unless all of the source has been decoded and reached the encoder as it was, upright, in the format of the
    /// result, and XMP holds what is kept of its metadata.
    ///
    /// - Parameter result: the chain's result.
    func unchangedSource(
        _ header: SourceHeader, framesUsed: Int, as format: OutputFormat, _ result: ImageFrames,
        insteadOf encoded: ByteBuffer
    ) -> (body: ByteBuffer, quality: ResultQuality?)? {
        guard output.passthrough == .auto, !result.isDamaged, result.isUnchanged,
            result.size == header.size,
            framesUsed == header.frames, header.orientation == 1, format.mediaType == header.format.mediaType,
            let stripped = format.row.stripped?(source), (try? SourceHeader(of: stripped)) == header,
            let file = ResultMetadata(of: result.first, output.metadata, in: format).adding(toBare: stripped),
            file.readableBytes <= encoded.readableBytes
        else { return nil }
        return (file, .ofSource(fits: output.maxBytes.map { file.readableBytes <= $0 } ?? true))
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
        // 8-bit gray samples without a color space that gives them another meaning.
        let frame = decoded.first
        guard result.size == decoded.size, frame.interpretation == "b-w", frame.isByte, frame.bands <= 2,
            frame.statedSpace == nil, frame.blob("icc-profile-data").map(ICCProfile.init)?.suits(frame) != true
        else { return false }
        let others = TransformChain(transforms.filter { !($0 is ToSRGB) })
        let colorless = try? others.apply(to: decoded, start: start, interrupt: interrupt)
        return colorless?.isIdentical(to: decoded) == true
    }
}
