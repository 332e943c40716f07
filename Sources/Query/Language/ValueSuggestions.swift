/// Suggests a value for one that was mistyped, or that another service has for the same effect.
enum ValueSuggestions {
    /// " Did you mean 'fit=cover'?" with its leading space, or nothing where no value is near.
    ///
    /// - Parameter isOptional: whether the name may stand without a value.
    static func sentence(for given: String?, of name: String, _ schema: ValueSchema, isOptional: Bool) -> String {
        guard let given = given?.lowercased(), !given.isEmpty else { return "" }
        if let value = otherValues[name]?[given] { return " Did you mean '\(name)=\(value)'?" }
        switch schema {
        case .choice(let values, _):
            return NameSuggestions.sentence(for: given, among: values) { "\(name)=\($0)" }
        case .integer(let range) where range == 0...359:
            // An angle: other services have a sign, or count on.
            guard let degrees = Int(given), (-3_600...3_600).contains(degrees) else { return "" }
            return " Did you mean '\(name)=\((degrees % 360 + 360) % 360)'?"
        default:
            switch given {
            case "true", "yes", "on": return isOptional ? " Did you mean '\(name)'?" : ""
            case "false", "no", "off", "none": return " Leave '\(name)' out instead."
            default: return ""
            }
        }
    }

    /// Values of imgix, Cloudinary, imgproxy, Cloudflare, sharp and others, by parameter.
    static let otherValues: [String: [String: String]] = [
        "fit": [
            "crop": "cover", "thumb": "cover", "facearea": "cover", "clip": "inside", "max": "inside",
            "limit": "inside", "scale-down": "inside", "bounds": "inside", "pad": "contain", "letterbox": "contain",
            "scale": "fill", "stretch": "fill", "force": "fill", "exact": "fill",
        ],
        "a": [
            "smart": "attention", "sm": "attention", "auto": "attention", "salient": "attention", "edges": "entropy",
            "fp": "focal", "centre": "center", "middle": "center",
            "north": "top", "south": "bottom", "east": "right", "west": "left", "northeast": "top-right",
            "northwest": "top-left", "southeast": "bottom-right", "southwest": "bottom-left", "no": "top",
            "so": "bottom", "ea": "right", "we": "left", "ce": "center",
        ],
        "filt": [
            "gray": "greyscale", "grey": "greyscale", "monochrome": "greyscale", "mono": "greyscale",
            "invert": "negate", "bw": "bitonal",
        ],
        "output": ["original": "origin", "source": "origin", "same": "origin"],
        "q": ["auto:best": "auto", "auto:good": "auto", "auto:eco": "auto", "auto:low": "auto", "best": "100"],
    ]
}
