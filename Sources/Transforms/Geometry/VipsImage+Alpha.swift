import DarkroomVips

/// Colour and transparency have to be treated apart, or transparent pixels bleed their hidden colour.
extension VipsImage {
    /// Changes the colour bands alone; samples are bytes again afterwards, alpha is as it was.
    func changingColor(
        _ change: (VipsImage) throws(VipsError) -> VipsImage
    ) throws(VipsError) -> VipsImage {
        try splittingAlpha(
            color: { color throws(VipsError) in try change(color).roundedToBytes() },
            alpha: { alpha in alpha })
    }

    /// Changes colour bands and alpha band, each by its own function, and joins what they give.
    func splittingAlpha(
        color: (VipsImage) throws(VipsError) -> VipsImage, alpha: (VipsImage) throws(VipsError) -> VipsImage
    ) throws(VipsError) -> VipsImage {
        guard hasAlpha, bands > 1 else { return try color(self) }
        let changed = try color(band(0, count: bands - 1))
        return try VipsImage.joiningBands([changed, alpha(band(bands - 1))])
    }

    /// Mixes neighbouring pixels by `mix` with colours weighted by their alpha; without alpha it is just `mix`.
    func premultiplying(
        _ mix: (VipsImage) throws(VipsError) -> VipsImage
    ) throws(VipsError) -> VipsImage {
        guard hasAlpha else { return try mix(self) }
        let mixed = try mix(applying("premultiply", ["max_alpha": .double(isShort ? 65535 : 255)]))
        let straight = try mixed.applying("unpremultiply", ["max_alpha": .double(isShort ? 65535 : 255)])
        return isShort ? try straight.roundedToShorts() : try straight.roundedToBytes()
    }

    /// Samples as bytes, rounded: libvips' `cast` would cut fractions off and darken.
    func roundedToBytes() throws(VipsError) -> VipsImage {
        isByte ? self : try applying("linear", ["a": .doubles([1]), "b": .doubles([0.5]), "uchar": true])
    }

    private func roundedToShorts() throws(VipsError) -> VipsImage {
        try applying("linear", ["a": .doubles([1]), "b": .doubles([0.5])]).applying("cast", ["format": "ushort"])
    }

    /// The image with an opaque alpha band, if it has none.
    func addingAlpha() throws(VipsError) -> VipsImage {
        hasAlpha ? self : try applying("bandjoin_const", ["c": .doubles([isShort ? 65535 : 255])])
    }
}
