import DarkroomVips

/// Rotates the hue of every color (in CIELCh).
public struct Hue: ColorTransform, Hashable, Codable {
    /// The accepted angles; 0 changes nothing, positive angles move red toward yellow.
    public static let degrees = 0...359

    /// The angle, one of `degrees`.
    public var degrees: Int

    /// Rotates hues by this angle.
    public init(degrees: Int) {
        self.degrees = degrees
    }

    public var key: String { "hue(\(degrees))" }

    public var cost: TransformCost { .pixelwise(105, withAlpha: 120, stripBytes: 2, frameBytes: 300_000) }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.modulating(hueDegrees: degrees)
    }
}

/// Multiplies the lightness of every color (in CIELCh). It may change chroma and hue too, and clips colors once only.
public struct Lightness: ColorTransform, Hashable, Codable {
    /// The accepted factors: 0 = black, 1 changes nothing.
    public static let factors = 0.0...10.0

    /// The factor, one of `factors`.
    public var factor: Double
    /// Multiplies chroma, one of ``Saturation/factors``.
    public var chroma = 1.0
    /// Rotates hues, one of `Hue.degrees`.
    public var hueDegrees = 0

    /// Multiplies lightness by this factor.
    public init(factor: Double, chroma: Double = 1, hueDegrees: Int = 0) {
        self.factor = factor
        self.chroma = chroma
        self.hueDegrees = hueDegrees
    }

    /// Whether chroma and hue stay as they are.
    package var isPlain: Bool { chroma == 1 && hueDegrees == 0 }

    public var key: String { isPlain ? "mod(\(factor))" : "mod(\(factor),\(chroma),\(hueDegrees))" }

    public var cost: TransformCost { .pixelwise(135, withAlpha: 145, stripBytes: 2, frameBytes: 300_000) }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.modulating(lightness: factor, chroma: chroma, hueDegrees: hueDegrees)
    }
}

/// Multiplies the chroma of every color (in CIELCh).
public struct Saturation: ColorTransform, Hashable, Codable {
    /// The accepted factors: 0 = gray, 1 changes nothing.
    public static let factors = 0.0...10.0

    /// The factor, one of `factors`.
    public var factor: Double

    /// Multiplies chroma by this factor.
    public init(factor: Double) {
        self.factor = factor
    }

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
