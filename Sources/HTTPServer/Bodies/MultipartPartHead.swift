import DarkroomNetwork

/// The header fields of one part of a form.
struct MultipartPartHead {
    /// The name of the form's field.
    let name: String
    /// Whether the part is a file rather than a value.
    let isFile: Bool

    /// Reads the fields up to and including the empty line. Continued lines are refused, as in HTTP (RFC 9112 §5.2).
    init(parsing bytes: [UInt8]) throws(MultipartFlaw) {
        var disposition: MediaType?
        for line in try Self.lines(of: bytes) {
            let text = Substring(String(decoding: line, as: UTF8.self))
            guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon > text.startIndex,
                text[..<colon].utf8.allSatisfy(\.isTokenCharacter)
            else { throw .malformedHeader }
            let value = text[colon...].dropFirst().trimmingBlanks
            switch text[..<colon].lowercased() {
            case "content-disposition":
                guard disposition == nil, let value = MediaType(value) else { throw .malformedHeader }
                disposition = value
            case "content-transfer-encoding":
                guard ["7bit", "8bit", "binary"].contains(value.lowercased()) else { throw .encodedPart }
            default: break
            }
        }
        guard let disposition, disposition.name == "form-data", let name = disposition.parameters["name"] else {
            throw .malformedHeader
        }
        self.name = name
        isFile = disposition.parameters["filename"] != nil || disposition.parameters["filename*"] != nil
    }

    /// The lines without their ends. A line break is CR and LF, never CR or LF alone.
    private static func lines(of bytes: [UInt8]) throws(MultipartFlaw) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) where line.count > 1 || line.first != UInt8(ascii: "\r")
        {
            let text = line.dropLast()
            guard line.last == UInt8(ascii: "\r"), !text.contains(UInt8(ascii: "\r")), !text.contains(0) else {
                throw .malformedHeader
            }
            lines.append(text)
        }
        return lines
    }
}
