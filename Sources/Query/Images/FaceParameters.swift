import DarkroomRequests

extension ValueFormat where Value == Redaction? {
    /// `face`, alone or with a style.
    static var redaction: ValueFormat {
        ValueFormat(
            pattern: "^face(:(blur|pixelate|\(ValueSchema.colorPattern)))?$",
            expected: "face, alone or with a colon and blur, pixelate or a color",
            write: { redaction in
                switch redaction?.style {
                case .blur: "face"
                case .pixelate: "face:pixelate"
                case .cover(let color): "face:\(color.hex)"
                case nil: nil
                }
            },
            read: { text in
                let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard parts[0].lowercased() == "face" else { return nil }
                guard parts.count == 2 else { return Redaction() }
                switch parts[1].lowercased() {
                case "blur": return Redaction(.blur)
                case "pixelate": return Redaction(.pixelate)
                default: return Color(parsing: parts[1]).map { Redaction(.cover($0.opaque)) }
                }
            })
    }
}

extension ImageQueryDraft {
    /// Throws for parameters about faces that cannot be met.
    func finishFaces(_ limits: QueryLimits) throws(InvalidParameter) {
        if case .position(let position) = place, position.faces != nil {
            try limits.requireFaces("a")
        } else {
            try require(faceZoom == 0, "facezoom", "Parameter 'facezoom' requires a=face or a=faces.")
        }
        if details?.contains(.faces) == true { try limits.requireFaces("fields") }
        if query.recipe.layout?.showsFaces == true { try limits.requireFaces("layout") }
        guard query.recipe.redaction != nil else { return }
        try limits.requireFaces("redact")
        try require(
            !query.redirectsToSource, "default",
            "Parameter 'default' cannot be 1 with 'redact': the source itself shows the faces.")
        // The detector finds upright faces alone.
        try require(
            query.recipe.orientation == .auto, "orient",
            "Parameter 'orient' must be auto with 'redact': faces are found only in the upright image.")
    }
}

extension Layout {
    /// Whether a part of the image is chosen by its faces.
    fileprivate var showsFaces: Bool {
        [gravity, crop?.gravity].contains { gravity in
            if case .faces = gravity?.point { true } else { false }
        }
    }
}
