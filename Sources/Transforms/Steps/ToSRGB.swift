import DarkroomVips

/// Brings whatever colours the source has to 8-bit sRGB: embedded profiles, CMYK, Display P3, 16 bits, grey, Lab.
public struct ToSRGB: Transform, Hashable {
    /// It has no parameters.
    public init() {}

    public var key: String { "srgb" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try picture.mapFrames { frame throws(VipsError) in try frame.convertedToSRGB() }
    }
}

extension VipsImage {
    /// 8-bit sRGB, three bands and alpha if there was any. Of a TIFF's extra channels the first counts as alpha.
    func convertedToSRGB() throws(VipsError) -> VipsImage {
        let profile = blob("icc-profile-data").map(ICCProfile.init)
        if interpretation == "cmyk" || (profile.map { !$0.isSRGB && $0.suits(self) } ?? false) {
            // A damaged profile is no reason to refuse the picture: its samples are then taken as sRGB (or plain CMYK).
            if let converted = try? convertedByProfile() { return converted }
        }
        if interpretation == "srgb", isByte, bands == 3 || bands == 4 { return self }
        let converted = try applying("colourspace", ["space": "srgb"]).applying("cast", ["format": "uchar"])
        return converted.bands <= 4 ? converted : try converted.band(0, count: 4)
    }

    private func convertedByProfile() throws(VipsError) -> VipsImage {
        try applying(
            "icc_transform",
            [
                "output_profile": "srgb", "embedded": true, "intent": "perceptual", "depth": 8,
                "input_profile": .string(interpretation == "cmyk" ? "cmyk" : "srgb"),
            ])
    }
}
