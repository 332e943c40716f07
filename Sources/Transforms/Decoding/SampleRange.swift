import DarkroomVips

extension VipsImage {
    /// The samples as unsigned integers of 8 or 16 bits, which is all that later steps know. TIFF has others: signed ones are
    /// moved up until the least is 0, 32 bits lose their lower half, floating point becomes sRGB at once.
    func withUnsignedSamples() throws(VipsError) -> VipsImage {
        switch sampleFormat {
        case "uchar", "ushort": self
        case "char": try mapped(to: "uchar", scale: 1, offset: 128)
        case "short": try mapped(to: "ushort", scale: 1, offset: 32768)
        case "uint": try mapped(to: "ushort", scale: 1 / 65536, offset: 0)
        case "int": try mapped(to: "ushort", scale: 1 / 65536, offset: 32768)
        default: try convertedToSRGB()
        }
    }

    private func mapped(to format: String, scale: Double, offset: Double) throws(VipsError) -> VipsImage {
        let isGrey = interpretation == "b-w" || interpretation == "grey16"
        let space = format == "uchar" ? (isGrey ? "b-w" : "srgb") : (isGrey ? "grey16" : "rgb16")
        return try applying("linear", ["a": .doubles([scale]), "b": .doubles([offset])])
            .applying("cast", ["format": .string(format)])
            .applying("copy", ["interpretation": .string(space)])
    }
}
