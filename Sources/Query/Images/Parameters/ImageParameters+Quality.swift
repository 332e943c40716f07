import DarkroomTransforms

extension ImageParameters {
    /// The parameters of how faithfully pixels are encoded, and in how many bytes.
    static let quality: [Row] = [
        Row(
            "q", .quality, \.quality,
            .of(
                .encoding, .encode, .medium,
                "Quality; the default depends on the format. `auto` is the lowest at which the result looks as "
                    + "`target` says.")),
        Row(
            "target", .choice(QualityTarget.self), \.target,
            .of(.encoding, .encode, "How close to the original the result of `q=auto` has to look.")),
        Row(
            "max_bytes", .integer(1...100_000_000), \.maxBytes,
            .of(
                .encoding, .encode, .high,
                "Lowers the quality, to 20 at worst, until the result has at most this many bytes.")
        ).aliased("maxbytes"),
        Row("ll", .boolean, \.lossless, .of(.encoding, .encode, .medium, "Lossless WebP, AVIF or JPEG XL.")),
        Row(
            "nl", .boolean, \.nearLossless,
            .of(
                .encoding, .encode, .medium,
                "Near-lossless WebP: `q`, by default 60, is the least fidelity of its small changes to pixels.")),
        Row(
            "il", .boolean, \.interlaced,
            .of(.encoding, .encode, .medium, "Progressive JPEG, interlaced PNG or GIF.")),
        Row("palette", .boolean, \.palette, .of(.encoding, .encode, .high, "PNG with at most 256 colors.")),
        Row(
            "passthrough", .choice(Passthrough.self), \.passthrough,
            .of(
                .encoding, .encode,
                "Whether a JPEG, PNG, WebP or GIF that no step changes is the result, without metadata, where encoding "
                    + "it again saves nothing. The default is a setting.")),
        Row(
            "l", .integer(EncoderEfforts.pngRange), \.compression,
            .of(.encoding, .encode, .medium, "Compression level of a PNG; by default the setting `png-effort`.")),
        Row(
            "af", .boolean, \.filtersRows,
            .of(.encoding, .encode, .medium, "PNG whose rows are filtered by what suits each of them.")),
    ]
}
