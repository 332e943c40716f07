public import DarkroomRequests
import DarkroomVips

extension Hue: ColorTransform {
    public var key: String { "hue(\(degrees))" }

    public var cost: TransformCost { .pixelwise(105, withAlpha: 120, stripBytes: 2, frameBytes: 300_000) }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.modulating(hueDegrees: degrees)
    }
}

extension Lightness: ColorTransform {
    public var key: String { isPlain ? "mod(\(factor))" : "mod(\(factor),\(chroma),\(hueDegrees))" }

    public var cost: TransformCost { .pixelwise(135, withAlpha: 145, stripBytes: 2, frameBytes: 300_000) }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.modulating(lightness: factor, chroma: chroma, hueDegrees: hueDegrees)
    }
}

extension Saturation: ColorTransform {
    public var key: String { "sat(\(factor))" }

    public var cost: TransformCost { .pixelwise(105, withAlpha: 110, stripBytes: 2, frameBytes: 300_000) }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.modulating(chroma: factor)
    }
}

extension ImageFrames {
    /// Multiplies lightness and chroma, and rotates hue in CIELCh.
    fileprivate func modulating(
        lightness: Double = 1, chroma: Double = 1, hueDegrees: Int = 0
    ) throws(VipsError) -> ImageFrames {
        try changingColor { color throws(VipsError) in
            try color.applying("colourspace", ["space": "lch"])
                .applying(
                    "linear", ["a": .doubles([lightness, chroma, 1]), "b": .doubles([0, 0, Double(hueDegrees)])]
                )
                .applying("copy", ["interpretation": "lch"]).applying("colourspace", ["space": "srgb"])
        }
    }
}
