import DarkroomVips

/// Operations that keep the hidden color of transparent pixels from bleeding into visible pixels.
extension VipsImage {
    /// Changes the color bands only. The result has 8-bit samples; alpha is not changed.
    func changingColor(
        _ change: (VipsImage) throws(VipsError) -> VipsImage
    ) throws(VipsError) -> VipsImage {
        try splittingAlpha(color: { color throws(VipsError) in try change(color).roundedToBytes() })
    }

    /// The image with its alpha multiplied by a factor up to 1.
    func fading(by factor: Double) throws(VipsError) -> VipsImage {
        guard factor < 1 else { return self }
        return try splittingAlpha(alpha: { alpha throws(VipsError) in try alpha.bytes(times: factor) })
    }

    /// Changes the color bands and the alpha band by a function each, and joins the results.
    func splittingAlpha(
        color: (VipsImage) throws(VipsError) -> VipsImage = { $0 },
        alpha: (VipsImage) throws(VipsError) -> VipsImage = { $0 }
    ) throws(VipsError) -> VipsImage {
        guard hasAlpha, bands > 1 else { return try color(self) }
        let changed = try color(band(0, count: bands - 1))
        return try VipsImage.joiningBands([changed, alpha(band(bands - 1))])
    }

    /// Applies `mix`, which combines neighboring pixels, to colors weighted by their alpha (libvips `premultiply`).
    func premultiplying(
        _ mix: (VipsImage) throws(VipsError) -> VipsImage
    ) throws(VipsError) -> VipsImage {
        hasAlpha ? try mix(premultiplied()).dividedByAlpha(of: self) : try mix(self)
    }

    /// The image with its colors multiplied by its alpha, if it has one.
    func premultiplied() throws(VipsError) -> VipsImage {
        hasAlpha ? try applying("premultiply", ["max_alpha": maxAlpha]) : self
    }

    /// The image with its colors divided by its alpha, rounded.
    func dividedByAlpha() throws(VipsError) -> VipsImage { try dividedByAlpha(of: self) }

    /// - Parameter original: an image with the samples that the result has.
    private func dividedByAlpha(of original: VipsImage) throws(VipsError) -> VipsImage {
        let straight = try applying("unpremultiply", ["max_alpha": original.maxAlpha])
        guard original.isShort else { return try straight.roundedToBytes() }
        return try straight.applying("linear", ["a": .doubles([1]), "b": .doubles([0.5])])
            .applying("cast", ["format": "ushort"])
    }

    private var maxAlpha: VipsValue { .double(isShort ? 65535 : 255) }

    /// The image with 8-bit samples, rounded: libvips' `cast` would truncate fractions, which darkens.
    func roundedToBytes() throws(VipsError) -> VipsImage {
        isByte ? self : try bytes(times: 1)
    }

    /// Every sample times a factor, as rounded 8-bit samples.
    func bytes(times factor: Double) throws(VipsError) -> VipsImage {
        try applying("linear", ["a": .doubles([factor]), "b": .doubles([0.5]), "uchar": true])
    }

    /// The image with an alpha band, opaque if it is added.
    func addingAlpha() throws(VipsError) -> VipsImage {
        hasAlpha ? self : try applying("bandjoin_const", ["c": .doubles([isShort ? 65535 : 255])])
    }
}
