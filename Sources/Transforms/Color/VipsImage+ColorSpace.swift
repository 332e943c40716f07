import DarkroomVips

/// Colors that are stated without an ICC profile, and HDR.
extension VipsImage {
    /// The field that ``describing(_:overProfile:)`` sets.
    private static let codeField = "color-code"

    /// The image with the color space that its container states. A code that means sRGB leaves it as it is.
    ///
    /// - Parameter overProfile: whether the code takes precedence over an ICC profile.
    func describing(_ code: ColorCode?, overProfile: Bool) throws(VipsError) -> VipsImage {
        let hasProfile = has(Self.profileField)
        guard let code, let space = code.space, overProfile || !hasProfile else { return self }
        let unused = hasProfile ? [Self.profileField] : []
        if space.isSRGB { return unused.isEmpty ? self : try setting(removing: unused) }
        return try setting(removing: unused, arrays: [Self.codeField: code.fields])
    }

    /// The color space to convert from without lcms; nil = sRGB, or the color space of an ICC profile for SDR.
    var statedSpace: ColorSpace? {
        guard isByte || isShort, ["srgb", "b-w", "rgb16", "grey16"].contains(interpretation) else { return nil }
        if let fields = ints(Self.codeField) { return ColorCode(fields: fields)?.space }
        guard let profile = blob(Self.profileField).map(ICCProfile.init), profile.suits(self) else { return nil }
        return profile.spaceOfHDR
    }

    /// The image as samples of three colors with these primaries and the curve of sRGB. HDR is tone-mapped.
    ///
    /// - Parameter isDeep: whether samples of 16 bits keep them; otherwise they become 8-bit samples.
    func converted(
        from space: ColorSpace, to primaries: Chromaticities, isDeep: Bool = false, interrupt: Interrupt?
    ) throws(VipsError) -> VipsImage {
        let isDeep = isDeep && isShort
        let narrows = isShort && !isDeep
        // Color and alpha are computed apart, and the tone mapping reads the colors several times.
        let source = space.curve.isHDR || hasAlpha ? try rendered(interrupt: interrupt) : self
        let converted = try source.splittingAlpha(
            color: { color throws(VipsError) in try color.colors(from: space, to: primaries, isDeep: isDeep) },
            alpha: { alpha throws(VipsError) in
                guard narrows else { return alpha }
                return try alpha.applying("linear", ["a": .doubles([1 / 257.0]), "b": .doubles([0.5])])
                    .applying("cast", ["format": "uchar"])
            })
        return try converted.applying("copy", ["interpretation": isDeep ? "rgb16" : "srgb"])
            .setting(removing: [Self.codeField, Self.profileField])
    }

    /// The cost of ``converted(from:to:interrupt:)``, measured with 4 megapixels.
    func costOfConverting(from space: ColorSpace) -> TransformCost {
        let isOnlyTable = !space.curve.isHDR && (bands < 3 || space.matrix(to: .bt709) == nil)
        let bytes = isShort ? 2.0 : 1
        return TransformCost(
            nanosecondsPerPixel: space.curve.isHDR ? 165 : isOnlyTable ? 10 : 60,
            // A table has an entry for each value of a sample.
            nanosecondsPerFrame: isShort ? 5e6 : 0.1e6,
            bytesPerPixel: space.curve.isHDR ? 3 * bytes : 0, bytesPerPixelWithAlpha: 4 * bytes)
    }

    /// One or three bands as three bands of 8 bits, or of 16.
    private func colors(
        from space: ColorSpace, to primaries: Chromaticities, isDeep: Bool
    ) throws(VipsError) -> VipsImage {
        let count = isByte ? 256 : 65536
        let samples = (0..<count).map { Double($0) / Double(count - 1) }
        let matrix = space.matrix(to: primaries)
        if !space.curve.isHDR, bands == 1 || matrix == nil {
            let light = samples.map(space.curve.light)
            let count = bands == 1 ? 3 : 1
            let table =
                isDeep
                ? VipsImage.table(light.map(SRGBCurve.short), bands: count)
                : VipsImage.table(light.map(SRGBCurve.byte), bands: count)
            return try applying("maplut", ["lut": .image(table)])
        }
        let color = bands == 1 ? try VipsImage.joiningBands([self, self, self]) : self
        let light = try color.applying(
            "maplut", ["lut": .image(.table(samples.map { Float(space.curve.light($0)) }))])
        guard space.curve.isHDR else { return try light.recombined(by: matrix).encodedAsSRGB(isDeep) }
        var shown = try light.recombined(by: space.matrix(to: .bt2020))
        if space.curve == .hlg { shown = try ToneMapping.displayed(shown) }
        return try space.toneMapping.mapped(shown).recombined(by: Self.bt2020?.matrix(to: primaries))
            .encodedAsSRGB(isDeep)
    }

    private func recombined(by matrix: ColorMatrix?) throws(VipsError) -> VipsImage {
        guard let matrix else { return self }
        return try applying("recomb", ["m": .image(.matrix(matrix.rows))])
    }

    /// Light of 0…1 as samples of 8 bits, or of 16; colors outside of the primaries are clipped.
    private func encodedAsSRGB(_ isDeep: Bool) throws(VipsError) -> VipsImage {
        try applying("linear", ["a": .doubles([65535]), "b": .doubles([0.5])])
            .applying("cast", ["format": "ushort"])
            .applying("maplut", ["lut": .image(isDeep ? LinearLight.lightToShort : LinearLight.lightToByte)])
    }

    private static let bt2020 = Chromaticities.bt2020.toXYZ.map { ColorSpace(toXYZ: $0, curve: .sRGB) }
    private static let profileField = "icc-profile-data"
}
