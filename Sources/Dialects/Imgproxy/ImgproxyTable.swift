import DarkroomQuery

/// The options of imgproxy. The tables of `docs/imgproxy.md` are generated from these rows.
enum ImgproxyTable {
    typealias Row = OptionRow<ImgproxyArguments, ImgproxyDraft>

    static let image = table(
        sizeRows + geometryRows + colorRows + watermarkRows + metadataRows + outputRows + pageRows + handlingRows
            + securityRows)
    static let information = table(informationRows)

    private static func table(_ rows: [Row]) -> OptionTable<ImgproxyArguments, ImgproxyDraft> {
        OptionTable(rows, refusal: "is not supported")
    }
}

extension OptionRow where Draft == ImgproxyDraft {
    static func parameter(_ names: String..., pro: Bool = false, as text: String, read: @escaping Read) -> Self {
        Self(names: names, isPro: pro, outcome: .parameters(text), read: read)
    }

    /// An option whose only argument becomes one member of the draft.
    static func single<Value>(
        _ names: String..., pro: Bool = false, as text: String,
        _ member: WritableKeyPath<ImgproxyDraft, Value> & Sendable,
        _ read: @escaping @Sendable (ImgproxyArguments) -> (Substring) throws(InvalidParameter) -> Value
    ) -> Self where Arguments == ImgproxyArguments {
        Self(names: names, isPro: pro, outcome: .parameters(text)) { arguments, draft throws(InvalidParameter) in
            draft[keyPath: member] = try read(arguments)(arguments.single())
        }
    }

    /// An option that changes nothing. Its arguments may be checked nevertheless.
    static func ignored(
        _ names: String..., pro: Bool = false, because reason: String, checking read: Read? = nil
    ) -> Self {
        Self(names: names, isPro: pro, outcome: .ignored(reason), read: read)
    }

    static func refused(_ names: String..., pro: Bool = true, because reason: String) -> Self {
        Self(names: names, isPro: pro, outcome: .refused(reason))
    }
}

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
