import DarkroomTransforms

extension ImageProcessingError: WireValue {
    static let blank = ImageProcessingError.unsupported

    /// Maximum length of a text in characters.
    private static let maxCharacters = 1000

    private enum Kind: CaseIterable {
        case unsupported, missingDecoder, corrupt, tooLarge, badParameter, interrupted, transformFailed, encodingFailed
    }

    /// The error as a kind, its text and, of a bad parameter, the parameter.
    private var parts: (kind: Kind, text: String, parameter: String) {
        switch self {
        case .unsupported: (.unsupported, "", "")
        case .missingDecoder(let format): (.missingDecoder, format.rawValue, "")
        case .corrupt(let text): (.corrupt, text, "")
        case .tooLarge(let text): (.tooLarge, text, "")
        case .badParameter(let error): (.badParameter, error.reason, error.parameter)
        case .interrupted: (.interrupted, "", "")
        case .transformFailed(let text): (.transformFailed, text, "")
        case .encodingFailed(let text): (.encodingFailed, text, "")
        case .mark(let error): error.parts
        }
    }

    /// Texts are cut to 1,000 characters, and further if these are long in UTF-8.
    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        var isOfMark = if case .mark = self { true } else { false }
        try coder.code(&isOfMark)
        var kind = parts.kind
        try coder.code(choice: &kind)
        let text = Self.cut(try coder.coded(Self.cut(parts.text)))
        let parameter = Self.cut(try coder.coded(Self.cut(parts.parameter)))
        switch kind {
        case .unsupported: self = .unsupported
        case .missingDecoder:
            guard let format = SourceFormat(rawValue: text) else { throw .malformed }
            self = .missingDecoder(format)
        case .corrupt: self = .corrupt(text)
        case .tooLarge: self = .tooLarge(text)
        case .badParameter: self = .badParameter(TransformError(parameter: parameter, reason: text))
        case .interrupted: self = .interrupted
        case .transformFailed: self = .transformFailed(text)
        case .encodingFailed: self = .encodingFailed(text)
        }
        if isOfMark { self = .mark(self) }
    }

    private static func cut(_ text: String) -> String {
        let cut = String(text.prefix(maxCharacters))
        guard cut.utf8.count > WireCoder.maxTextBytes else { return cut }
        return String(String.UnicodeScalarView(cut.unicodeScalars.prefix(WireCoder.maxTextBytes / 4)))
    }
}
