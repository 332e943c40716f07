import DarkroomVips

/// Lookup tables, by which brightness, contrast and gamma change every color sample alike.
extension ImageFrames {
    /// Maps every color sample through a table of 256 bytes (libvips `maplut`).
    func mappingTones(by table: VipsImage) throws(VipsError) -> ImageFrames {
        try changingColor { color throws(VipsError) in try color.applying("maplut", ["lut": .image(table)]) }
    }
}

extension VipsImage {
    /// A table for `mappingTones` of a function of tones 0…1, clipped to that range.
    static func curve(_ function: (Double) -> Double) -> VipsImage {
        table(
            (0..<256).map { step -> UInt8 in
                UInt8((min(max(function(Double(step) / 255), 0), 1) * 255).rounded())
            })
    }

    /// Every tone as red, green and blue.
    static let grays = grayscale((0...255).map(UInt8.init))

    /// A table for `grayscale(through:)` of 256 tones.
    static func grayscale(_ tones: [UInt8]) -> VipsImage { table(tones, bands: 3) }

    /// Luminance through a table of three bands: `colourspace` would compute the luminance once for each band.
    func grayscale(through table: VipsImage) throws(VipsError) -> VipsImage {
        try applying("colourspace", ["space": "b-w"]).applying("maplut", ["lut": .image(table)])
            .applying("copy", ["interpretation": "srgb"])
    }
}
