import DarkroomRequests

extension ImageParameters {
    /// The parameters of how faithfully pixels are encoded, and in how many bytes.
    static let quality: [Row] = [
        Row(
            "q", .quality, \.quality, .encoding, .encode, cost: .medium,
            "Quality; the default depends on the format. `auto` is the lowest quality that meets `target`. A GIF has "
                + "fewer colors below 70."),
        Row(
            "target", .choice(QualityTarget.self), \.target, .encoding, .encode,
            "How similar to the original the result of `q=auto` must look."),
        Row(
            "slow_q", .integer(1...100), \.query.slowQuality, .encoding, .encode, cost: .medium,
            "Quality instead of `q` for clients that send `Save-Data: on`, an `ECT` of 3g or slower, an `RTT` over 150 "
                + "or a `Downlink` under 5."),
        Row(
            "max_bytes", .integer(1...100_000_000), \.output.maxBytes, .encoding, .encode, cost: .high,
            "Lowers the quality, to 20 at worst, until the result has at most this many bytes."
        ).aliased("maxbytes"),
        Row(
            "chroma", .choice(ChromaSampling.self), \.output.chroma, .encoding, .encode, cost: .medium,
            "Resolution of color differences in \(OutputFormat.names("and", where: \.samplesChroma)): half or full. By "
                + "default it is full for drawings, and for `q` from 90 on."),
        Row(
            "ll", .boolean, \.output.lossless, .encoding, .encode, cost: .medium,
            "Lossless \(OutputFormat.names("or", where: \.hasLosslessMode)): every visible pixel is kept, or with "
                + "`passthrough=auto` the data of a JPEG in JPEG XL."),
        Row(
            "nl", .boolean, \.output.nearLossless, .encoding, .encode, cost: .medium,
            "Near-lossless WebP, which changes pixels slightly; `q`, by default 60, limits the changes: lower values "
                + "allow more."),
        Row(
            "il", .boolean, \.output.interlaced, .encoding, .encode, cost: .medium,
            "Progressive or interlaced \(OutputFormat.names("or", where: \.isInterlaceable))."
        ),
        Row(
            "palette", .boolean, \.output.palette, .encoding, .encode, cost: .high,
            "PNG with at most 256 colors, to which all others are changed."),
        Row(
            "passthrough", .choice(Passthrough.self), \.output.passthrough, .encoding, .encode,
            "Whether to return the pixel data of a JPEG, PNG, WebP or GIF that no step changes, with the metadata of "
                + "any result, if encoding it again saves nothing, and of a JPEG in JPEG XL."),
        Row(
            "metadata", .choice(MetadataPolicy.self), \.output.metadata, .encoding, .encode,
            "Metadata that the result keeps: none, rights (creator, copyright, credit, terms, licensor, and whether a "
                + "machine made it), or all (description and EXIF too, without position and thumbnail)."),
        Row(
            "gamut", .choice(Gamut.self), \.query.recipe.gamut, .encoding, .transform("ColorConversion"),
            "Color space of the result: sRGB, Display P3, or Display P3 for a source beyond sRGB (`source`). It is "
                + "sRGB after steps that draw or change colors, and in "
                + "\(OutputFormat.names("and", where: { !$0.holdsProfile })). The default is a setting."),
        Row(
            "depth", .choice(SampleDepth.self), \.query.recipe.depth, .encoding, .transform("ColorConversion"),
            cost: .low,
            "Bits of a sample: 8, or for a source of more than 8 (`source`) 10 in AVIF and 16 in PNG and JPEG XL. "
                + "Other formats, and results of steps that do more than scaling and moving pixels, have 8."),
        Row(
            "hdr", .choice(HDRPolicy.self), \.output.hdr, .encoding, .encode, cost: .low,
            "Whether a JPEG keeps the gain map of its source, with which it is HDR on displays that can show it. By "
                + "default it does if that takes at most a third more bytes. Only resizing, crops, turns and mirroring "
                + "keep it."),
        Row(
            "l", .integer(OutputOptions.compressionLevels), \.output.compression, .encoding, .encode, cost: .medium,
            "Compression level of a PNG; by default 6."),
        Row(
            "af", .boolean, \.output.filtersRows, .encoding, .encode, cost: .medium,
            "PNG with adaptive filters for its rows. By default, the pixels decide."
        ),
    ]
}
