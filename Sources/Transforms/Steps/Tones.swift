import DarkroomVips

/// What several colour steps do alike.
extension Picture {
    /// Looks every colour sample up in a table of 256 bytes.
    func mappingTones(by table: VipsImage) throws(VipsError) -> ImageFrames {
        try mapFrames { frame throws(VipsError) in
            try frame.changingColor { color throws(VipsError) in
                try color.applying("maplut", ["lut": .image(table)])
            }
        }
    }
}

extension VipsImage {
    /// A table for `mappingTones` out of a function of tones 0…1; what it gives beyond that is clipped.
    static func curve(_ function: (Double) -> Double) -> VipsImage {
        table(
            (0..<256).map { step -> UInt8 in
                UInt8((min(max(function(Double(step) / 255), 0), 1) * 255).rounded())
            })
    }

    /// Multiplies chroma and turns hue in CIELCh.
    func modulating(chroma factor: Double, hueDegrees: Double) throws(VipsError) -> VipsImage {
        try changingColor { color throws(VipsError) in
            try color.applying("colourspace", ["space": "lch"])
                .applying("linear", ["a": .doubles([1, factor, 1]), "b": .doubles([0, 0, hueDegrees])])
                .applying("copy", ["interpretation": "lch"]).applying("colourspace", ["space": "srgb"])
        }
    }
}
