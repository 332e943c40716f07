import DarkroomTransforms

/// The colors of the result (IIIF Image API 3.0 §4.4).
enum IIIFQuality: String, Hashable, Sendable, CaseIterable {
    case `default`, color, gray, bitonal

    init(parsing text: String) throws(InvalidParameter) {
        guard let quality = IIIFQuality(rawValue: text) else {
            throw InvalidParameter(
                "quality", got: text, expected: "one of \(Self.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self = quality
    }

    var filter: Filter? {
        switch self {
        case .default, .color: nil
        case .gray: .greyscale
        case .bitonal: .bitonal
        }
    }

    /// The canonical quality (§4.8).
    var canonical: String { self == .color ? Self.default.rawValue : rawValue }
}
