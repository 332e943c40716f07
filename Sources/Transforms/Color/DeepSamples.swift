import DarkroomRequests
import DarkroomVips

extension [any Transform] {
    /// Whether the steps only scale pixels and move them to places that the header decides: the others compute with, or
    /// draw, samples of 8 bits.
    var suitDeepSamples: Bool {
        allSatisfy { step in
            step.onlyMovesPixels || step is SourceDigest || step is Resize || step is LayoutResize
                || step is ColorConversion
        }
    }

    /// The same steps with a result of 8 bits.
    var inEightBits: Self { map { ($0 as? ColorConversion).map { ColorConversion($0.gamut) } ?? $0 } }
}

extension VipsImage {
    /// Samples of 16 bits whose greatest is 65,535. libvips shifts samples of HEIF, so that 1,023 becomes 65,472.
    func inFullScale() throws(VipsError) -> VipsImage {
        guard isShort, let bits = int(Self.bitsField), (9..<16).contains(bits) else { return self }
        let greatest = Double(((1 << bits) - 1) << (16 - bits))
        return try applying("linear", ["a": .doubles([65535 / greatest]), "b": .doubles([0.5])])
            .applying("cast", ["format": "ushort"]).setting(removing: [Self.bitsField])
    }

    /// The image with the bits that a sample has in its file.
    ///
    /// - Parameter bits: nil = unknown.
    func statingBits(_ bits: Int?) throws(VipsError) -> VipsImage {
        guard isShort, let bits else { return self }
        return try setting(ints: [Self.bitsField: bits])
    }

    private static let bitsField = "bits-in-file"

    /// Red, green and blue of 16 bits, and alpha if it had any; gray is repeated, and has at most alpha besides.
    func withThreeColors() throws(VipsError) -> VipsImage {
        if interpretation == "grey16", bands > 2 { return try band(0, count: 2).withThreeColors() }
        guard bands < 3 else { return try applying("copy", ["interpretation": "rgb16"]) }
        return try splittingAlpha(color: { gray throws(VipsError) in
            try gray.applying("maplut", ["lut": .image(Self.deepGrays)])
        }).applying("copy", ["interpretation": "rgb16"])
    }

    private static let deepGrays = table((0...65535).map(UInt16.init), bands: 3)

    /// Samples of 16 bits as 8-bit samples.
    func roundedFromShorts() throws(VipsError) -> VipsImage {
        try bytes(times: 1 / 257).applying("copy", ["interpretation": interpretation == "grey16" ? "b-w" : "srgb"])
    }
}
