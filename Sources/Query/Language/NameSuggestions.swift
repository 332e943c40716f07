/// Suggests known names for a name that was mistyped or written out (`width` for `w`).
package enum NameSuggestions {
    /// At most three known names, nearest first.
    package static func names(for given: String, among known: [String]) -> [String] {
        if let names = otherNames[given.lowercased()]?.filter(known.contains), !names.isEmpty { return names }
        let given = Array(given.lowercased().utf8.prefix(maxBytes))
        let ranked = known.compactMap { name -> (name: String, rank: Int)? in
            let bytes = Array(name.utf8)
            if given.starts(with: bytes) { return (name, 1) }
            let edits = distance(given, bytes)
            return edits <= min(2, given.count / 2) ? (name, edits + 1) : nil
        }
        // Ties keep the order of `known`: `sorted` alone is not documented to be stable.
        return ranked.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .prefix(3).map(\.element.name)
    }

    /// " Did you mean 'w' or 'h'?" with its leading space, or nothing where no name is near.
    ///
    /// - Parameter spelling: a name as the client would write it.
    package static func sentence(
        for given: String, among known: [String], spelling: (String) -> String = { $0 }
    ) -> String {
        let names = names(for: given, among: known).map { "'\(spelling($0))'" }
        return names.isEmpty ? "" : " Did you mean \(names.joined(separator: " or "))?"
    }

    /// The parameters that other services have other names for.
    private static let otherNames = [
        "format": ["output"], "fm": ["output"], "type": ["output"], "ext": ["output"], "auto": ["output", "formats"],
        "src": ["url"], "source": ["url"], "image": ["url"], "uri": ["url"], "fallback": ["default"],
        "quality": ["q"], "qlt": ["q"], "compression": ["q"], "mode": ["fit"], "resize": ["fit"], "rs": ["fit"],
        "gravity": ["a"], "position": ["a"], "align": ["a"], "rotate": ["ro"], "rotation": ["ro"], "rot": ["ro"],
        "background": ["bg"], "brightness": ["bri"], "contrast": ["con"], "saturation": ["sat"], "gamma": ["gam"],
        "sharpen": ["sharp"], "filter": ["filt"], "grayscale": ["filt"], "greyscale": ["filt"], "mirror": ["flop"],
        "lossless": ["ll"], "progressive": ["il"], "interlace": ["il"], "frames": ["n"], "pages": ["n"],
        "frame": ["page"], "ttl": ["maxage"], "max-age": ["maxage"], "expires": ["exp"], "sig": ["s"],
        "signature": ["s"], "watermark": ["mark"], "padding": ["pad"], "upscale": ["enlarge"],
        "download": ["filename"],
    ]

    /// Bytes compared of a given name. No known name is longer.
    private static let maxBytes = 32

    /// Insertions, deletions, replacements and swaps of neighbors (optimal string alignment distance).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for (i, a) in left.enumerated() {
            var row = [i + 1]
            for (j, b) in right.enumerated() {
                var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a == b ? 0 : 1))
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}

/// Suggests a value for one that was mistyped, or that another service has for the same effect.
enum ValueSuggestions {
    /// " Did you mean 'fit=cover'?" with its leading space, or nothing where no value is near.
    ///
    /// - Parameter isOptional: whether the name may stand without a value.
    static func sentence(for given: String?, of name: String, _ schema: ValueSchema, isOptional: Bool) -> String {
        guard let given = given?.lowercased(), !given.isEmpty else { return "" }
        if name == "steps" { return StepSuggestions.sentence(for: given) }
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
            case "true", "yes", "on": return isOptional ? " Did you mean '\(name)' without a value?" : ""
            case "-1" where name == "n": return " Leave 'n' out for all frames."
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
        "output": ["original": "origin", "source": "origin", "same": "origin", "jpegxl": "jxl", "jpeg-xl": "jxl"],
        "page": ["-1": "largest", "-2": "smallest"],
        "q": ["auto:best": "auto", "auto:good": "auto", "auto:eco": "auto", "auto:low": "auto", "best": "100"],
    ]
}
