package import DarkroomRequests
import DarkroomVips
import NIOCore

extension OutputOptions {
    /// Whether the result may have the pixel data of such a source: if that is asked for, or if a lossy result holds
    /// them without loss.
    package func mayKeepPixels(of source: SourceFormat) -> Bool {
        passthrough == .auto || !lossless && format?.transcodes(source) ?? false
    }

    /// Whether a source that can be held without loss is not compared with an encoded result.
    var keepsPixels: Bool {
        passthrough == .auto && quality == nil && target == nil && maxBytes == nil
    }
}

extension OutputFormat {
    /// Whether a file of this format can hold the pixel data of such a source, in fewer bytes.
    func transcodes(_ source: SourceFormat) -> Bool { row.transcoding?.source.mediaType == source.mediaType }
}

extension CostEstimate.Facts {
    /// Whether the result may be the transcoded source, as far as the plan says.
    var mayBeTranscoded: Bool {
        outputFormat.transcodes(format) && output.mayKeepPixels(of: format) && steps.change < .drawn
            && resampledArea == 0 && resultArea == sourceArea
    }
}

/// What becomes of the data of a JPEG whose result is JPEG XL, as far as its header says.
public enum JPEGDataOutcome: String, Codable, Sendable, CaseIterable {
    /// The result holds it (``Passthrough/auto``), also where lossless pixels are asked for: the JPEG itself is less
    /// changed than its decoded pixels are.
    case kept
    /// The result holds it unless encoded pixels are smaller.
    case keptIfSmaller = "kept-if-smaller"
}

extension ImageJob {
    /// - Parameter facts: of the chosen encoding.
    func outcomeOfJPEGData(_ header: SourceHeader, _ facts: CostEstimate.Facts) -> JPEGDataOutcome? {
        guard facts.choiceWork > 0, facts.mayBeTranscoded, header.orientation == 1, header.conversionCost == .none,
            JPEGXLTranscoder.isAvailable
        else { return nil }
        return output.keepsPixels ? .kept : .keptIfSmaller
    }

    /// The source with no other metadata than a result, if it shows the same image as the result; in a format that
    /// holds it in fewer bytes, as a file of that format. Its header is read once more and has to say the same.
    ///
    /// Nil unless all of the source has been decoded and left as it was, upright, and XMP holds what is kept of its
    /// metadata.
    ///
    /// - Parameters:
    ///   - transcodes: whether the plan has time to transcode.
    ///   - result: the chain's result.
    ///   - mostBytes: the length of the encoded result.
    func unchangedSource(
        _ header: SourceHeader, framesUsed: Int, as format: OutputFormat, transcodes: Bool, _ result: ImageFrames,
        mostBytes: Int
    ) -> EncodedImage? {
        let transcoding = transcodes && format.transcodes(header.format) ? format.row.transcoding : nil
        let own = transcoding?.source ?? format
        guard output.mayKeepPixels(of: header.format), !result.isDamaged, result.isUnchanged, !result.isP3,
            result.size == header.size,
            framesUsed == header.frames, header.orientation == 1, own.mediaType == header.format.mediaType,
            let stripped = own.row.stripped?(source),
            Double(stripped.readableBytes) * (transcoding?.leastShare ?? 1) <= Double(mostBytes),
            (try? SourceHeader(of: stripped)) == header,
            let bare = transcoding.map({ $0.transcode(stripped) }) ?? stripped,
            let file = ResultMetadata(of: result, output.metadata, in: format).adding(toBare: bare),
            file.readableBytes <= mostBytes
        else { return nil }
        return EncodedImage(
            body: file, format: format,
            quality: .ofSource(fits: output.maxBytes.map { file.readableBytes <= $0 } ?? true))
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
        let others = TransformChain(transforms.filter { !($0 is ColorConversion) })
        let colorless = try? others.apply(to: decoded, start: start, interrupt: interrupt)
        return colorless?.isIdentical(to: decoded) == true
    }
}
