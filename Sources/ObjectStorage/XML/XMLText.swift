/// Text for documents that are sent.
enum XMLText {
    /// Escapes text for the inside of an element, or returns nil if it has characters that XML 1.0 cannot contain, not
    /// even as references.
    static func escaped(_ text: String) -> String? {
        var output = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": output += "&amp;"
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            // Literal line ends and tabs may be normalized by the reader.
            case "\t", "\n", "\r": output += "&#\(scalar.value);"
            case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}": return nil
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output
    }
}
