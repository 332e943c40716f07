import DarkroomQuery
import DarkroomRequests
import Foundation

extension ImgproxyTable {
    static let watermarkRows: [Row] = [
        .parameter("watermark", "wm", as: "`mark`, `marka`, `markx`, `marky`, `markw`, `markh`, `markalpha`") {
            arguments, draft throws(InvalidParameter) in
            try arguments.readWatermark(into: &draft.watermark)
        },
        .single("watermark_url", "wmu", pro: true, as: "`mark`", \.watermark.url, ImgproxyArguments.textIfAny),
        .single(
            "watermark_text", "wmt", pro: true, as: "`text`, `textcolor`, `texta`, without markup", \.watermark.text,
            ImgproxyArguments.textIfAny),
        .parameter("watermark_size", "wms", pro: true, as: "`markw`, `markh`") {
            arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 2)
            if let text = arguments[0] { draft.watermark.width = try arguments.side(text) }
            if let text = arguments[1] { draft.watermark.height = try arguments.side(text) }
        },
        .refused("watermark_rotate", "wm_rot", "wmr", because: "A watermark is drawn upright."),
        .refused("watermark_shadow", "wmsh", because: "A watermark is drawn without a shadow."),
    ]

    static let metadataRows: [Row] = [
        .ignored("style", "st", pro: true, because: "SVG images are drawn with their own styles."),
        .single("strip_metadata", "sm", as: "`metadata=all` for `0`", \.stripsMetadata, ImgproxyArguments.flag),
        .single(
            "keep_copyright", "kcr", as: "`metadata=none` for `0`, unless `sm:0`", \.keepsCopyright,
            ImgproxyArguments.flag),
        .ignored("dpi", pro: true, because: "Results have no resolution in dots per inch."),
        .ignored("strip_color_profile", "scp", because: "Results are always in sRGB."),
        .ignored("preserve_hdr", "ph", because: "HDR is tone-mapped."),
        .refused("color_profile", "cp", "icc", because: "Results are always in sRGB."),
        .ignored("enforce_thumbnail", "eth", because: "Images are always made from the full source."),
    ]

    static let outputRows: [Row] = [
        .single("quality", "q", as: "`q`", \.quality, ImgproxyArguments.quality),
        .parameter("format_quality", "fq", as: "`q`, where the path names the format") {
            arguments, draft throws(InvalidParameter) in
            guard arguments.texts.count.isMultiple(of: 2) else {
                throw arguments.error("must be pairs of format and quality")
            }
            for place in stride(from: 0, to: arguments.texts.count, by: 2) {
                let name = String(arguments.texts[place])
                let quality = try arguments.quality(arguments.texts[place + 1])
                guard ImgproxyDraft.isFormat(arguments.texts[place]) else {
                    throw arguments.error(arguments.texts[place], isNot: "the name of a format")
                }
                if let format = ImgproxyDraft.formats[name] { draft.formatQualities[format] = quality }
            }
        },
        .parameter("autoquality", "aq", pro: true, as: "`q=auto`, unless the method is `none`") {
            arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 5)
            draft.choosesQuality = arguments.texts[0] != "none"
        },
        .parameter("max_bytes", "mb", as: "`max_bytes`") { arguments, draft throws(InvalidParameter) in
            draft.maxBytes = try arguments.integer(arguments.single(), "a number of bytes, or 0")
        },
        .parameter("jpeg_options", "jpgo", pro: true, as: "`il` for the first argument; the others are ignored") {
            arguments, draft throws(InvalidParameter) in
            if let text = arguments[0] { draft.progressive = arguments.flag(text) }
        },
        .parameter("png_options", "pngo", pro: true, as: "`il` and `palette` for the first two arguments") {
            arguments, draft throws(InvalidParameter) in
            if let text = arguments[0] { draft.progressive = arguments.flag(text) }
            if let text = arguments[1] { draft.palette = arguments.flag(text) }
        },
        .ignored("webp_options", "webpo", pro: true, because: "The server's encoder settings apply."),
        .ignored("avif_options", "avifo", pro: true, because: "The server's encoder settings apply."),
        .parameter("format", "f", "ext", as: "`output`") { arguments, draft throws(InvalidParameter) in
            try draft.setFormat(String(arguments.single()), of: arguments.option)
        },
    ]

    static let pageRows: [Row] = [
        .parameter("page", "pg", pro: true, as: "`page`, counted from 1") { arguments, draft throws(InvalidParameter) in
            draft.page = try arguments.integer(arguments.single(), in: 0...99_999, "the number of a page, from 0")
        },
        .parameter("pages", "pgs", pro: true, as: "`n`") { arguments, draft throws(InvalidParameter) in
            draft.pages = try arguments.integer(arguments.single(), in: 1...100_000, "a number of pages")
        },
        .single("disable_animation", "da", pro: true, as: "`n=1`", \.isStill, ImgproxyArguments.flag),
        .refused("video_thumbnail_second", "vts", because: "Videos are not read."),
        .refused("video_thumbnail_keyframes", "vtk", because: "Videos are not read."),
        .refused("video_thumbnail_tile", "vtt", because: "Videos are not read."),
        .refused("video_thumbnail_animation", "vta", because: "Videos are not read."),
    ]

    static let handlingRows: [Row] = [
        .single("fallback_image_url", "fiu", pro: true, as: "`default`", \.fallback, ImgproxyArguments.textIfAny),
        .ignored("skip_processing", "skp", because: "Every image is processed.") {
            arguments, _ throws(InvalidParameter) in
            for text in arguments.texts where !ImgproxyDraft.isFormat(text) {
                throw arguments.error(text, isNot: "the name of a format")
            }
        },
        .single(
            "raw", as: "`output=origin&passthrough=auto` and no other step: pixels stay as they are", \.isRaw,
            ImgproxyArguments.flag),
        .parameter("cachebuster", "cb", as: "`v`") { arguments, draft throws(InvalidParameter) in
            let text = try arguments.single()
            draft.version = text.isEmpty ? nil : Self.version(text)
        },
        .ignored("bypass_cache", "bc", pro: true, because: "See `cache`, which requires permission."),
        .ignored("cache_tags", "ct", pro: true, because: "Purges are by source."),
        .parameter("expires", "exp", as: "the expiry of the path") { arguments, draft throws(InvalidParameter) in
            let seconds = try arguments.integer(
                arguments.single(), in: -253_402_300_799...253_402_300_799, "a time in seconds since 1970")
            draft.expires = seconds > 0 ? Date(timeIntervalSince1970: Double(seconds)) : nil
        },
        .parameter("filename", "fn", as: "`filename`, with `_` for characters that need quoting") {
            arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 2)
            let isEncoded = arguments[1].map(arguments.flag) ?? false
            let name = isEncoded ? try arguments.decoded(arguments.texts[0]) : String(arguments.texts[0])
            draft.fileName = name.isEmpty ? nil : Self.fileName(name)
        },
        .single("return_attachment", "att", as: "`attachment`", \.isAttachment, ImgproxyArguments.flag),
        .parameter("preset", "pr", as: "the options of the preset, in its place") { _, _ throws(InvalidParameter) in
        },
        .parameter("hashsum", "hs", pro: true, as: "`digest`") { arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 2)
            draft.digest = nil
            guard let type = arguments[0], type != "none" else { return }
            guard let algorithm = SourceDigest.Algorithm(rawValue: String(type)) else {
                throw arguments.error(type, isNot: "md5, sha1, sha256, sha512 or none")
            }
            let hash = arguments[1] ?? ""
            guard let digest = SourceDigest(algorithm, String(hash)) else {
                throw arguments.error(hash, isNot: "a hash of \(algorithm.digits) hexadecimal digits")
            }
            draft.digest = "\(algorithm.rawValue):\(digest.hex)"
        },
    ]

    static let securityRows: [Row] = [
        .ignored("max_src_resolution", "msr", because: limits), .ignored("max_src_file_size", "msfs", because: limits),
        .parameter("max_animation_frames", "maf", as: "`n` with `pick=even`, within the server's limit") {
            arguments, draft throws(InvalidParameter) in
            draft.frames = try arguments.integer(arguments.single(), in: 1...100_000, "a number of frames")
        },
        .ignored("max_animation_frame_resolution", "mafr", because: limits),
        .parameter("max_result_dimension", "mrd", as: "`layout=maxside:PIXELS`") {
            arguments, draft throws(InvalidParameter) in
            let side = try arguments.integer(
                arguments.single(), in: -1_000_000...Layout.sides.upperBound, "a number of pixels, or 0")
            draft.layout.maxSide = side > 0 ? side : nil
        },
    ]

    private static let limits = "The limits of the server apply."

    /// A text as `v` takes it: 1 to 100 printable ASCII characters.
    private static func version(_ text: Substring) -> String {
        text.utf8.count <= 100 ? String(text) : String(text.utf8.prefix(84)) ?? String(text.prefix(20))
    }

    /// A file name without characters that need quoting.
    private static func fileName(_ text: String) -> String {
        let plain = text.unicodeScalars.map { scalar in
            let isPlain =
                scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "-_.".unicodeScalars.contains(scalar))
            return isPlain ? Character(scalar) : "_"
        }
        let name = String(plain.prefix(98))
        return name.hasPrefix(".") ? "_" + name.dropFirst() : name
    }
}

extension ImgproxyArguments {
    fileprivate func quality(_ text: Substring) throws(InvalidParameter) -> Int {
        try integer(text, in: 0...100, "a quality from 0 to 100")
    }

    /// Text in base64url; nil if it is empty.
    fileprivate func textIfAny(_ text: Substring) throws(InvalidParameter) -> String? {
        let decoded = try decoded(text)
        return decoded.isEmpty ? nil : decoded
    }

    fileprivate func readWatermark(into watermark: inout ImgproxyDraft.Watermark) throws(InvalidParameter) {
        try require(atMost: 7)
        watermark.opacity = try number(texts[0], in: 0...1, "an opacity from 0 to 1")
        if let text = self[1] {
            watermark.anchor = Self.anchors[text]
            guard text == "re" || watermark.anchor != nil else {
                throw error(text, isNot: "a position such as ce, no, soea or re")
            }
        }
        if let text = self[2] { watermark.x = try number(text, in: -1e5...1e5, "an offset") }
        if let text = self[3] { watermark.y = try number(text, in: -1e5...1e5, "an offset") }
        if let text = self[4] { watermark.scale = try number(text, in: 0...1000, "a positive number") }
    }
}
