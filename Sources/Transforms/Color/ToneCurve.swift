import DarkroomVips

/// Lookup tables, by which brightness, contrast and gamma change every color sample alike.
extension ImageFrames {
    /// Maps every color sample through a table of 256 bytes (libvips `maplut`).
    func mappingTones(by table: VipsImage) throws(VipsError) -> ImageFrames {
        try mapFrames { frame throws(VipsError) in
            try frame.changingColor { color throws(VipsError) in
                try color.applying("maplut", ["lut": .image(table)])
            }
        }
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
}
