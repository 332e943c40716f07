import DarkroomQuery

extension ImgproxyTable {
    static let informationRows: [Row] =
        [
            basic("size", "s"), basic("format", "f"), basic("dimensions", "d"), basic("colorspace", "cs"),
            basic("bands", "b"), basic("sample_format", "sf"), basic("pages_number", "pn"), basic("alpha", "a"),
            detail("exif", as: "exif"), detail("palette", "p", as: "palette"), detail("average", "avg", as: "color"),
            detail("dominant_colors", "dc", as: "color"), detail("blurhash", "bh", as: "blurhash"),
            detail("thumb_hash", "th", as: "thumbhash"),
            .ignored("iptc", pro: true, because: "The document has no IPTC data."),
            .ignored("xmp", pro: true, because: "The document has no XMP data."),
            .refused("video_meta", "vm", because: "Videos are not read."),
            .refused("detect_objects", "do", because: "Objects are not detected."),
            .refused("classify", "cl", because: "Images are not classified."),
            .refused("crop", "c", because: "The document is about the whole image."),
            .refused("objects_position", "obj_pos", "op", because: "Objects are not detected."),
            .refused("perceptual_hash", "ph", because: "The document has no perceptual hash."),
            .refused("calc_hashsums", "chs", because: "The document has no hashes of the file."),
            pageRows[0],
        ] + handlingRows.filter { !imageOnly.contains($0.names[0]) } + securityRows.prefix(2)

    private static let imageOnly: Set = [
        "fallback_image_url", "skip_processing", "raw", "filename", "return_attachment",
    ]

    /// An option whose content the document always has.
    private static func basic(_ names: String...) -> Row {
        Row(names: names, isPro: true, outcome: .ignored("The document always has it."))
    }

    /// An option for a field of the document.
    private static func detail(_ names: String..., as field: String) -> Row {
        Row(names: names, isPro: true, outcome: .parameters("`fields=\(field)`")) {
            arguments, draft throws(InvalidParameter) in
            guard let text = arguments.texts.first, !["", "0", "f", "false"].contains(text),
                !draft.fields.contains(field)
            else { return }
            draft.fields.append(field)
        }
    }
}
