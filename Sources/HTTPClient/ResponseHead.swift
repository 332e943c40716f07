import DarkroomNetwork
package import HTTPTypes
import NIOCore
package import NIOHTTP1

/// The status and fields of a response, line by line.
struct ResponseHead {
    let status: Int
    /// Whether the version is less than HTTP/1.1.
    let isOld: Bool
    private(set) var fields: [(name: String, value: String)] = []
    /// Whether no line had to be repaired or ignored.
    private(set) var isRegular = true

    /// A line such as `HTTP/1.1 200 OK`. Nil for anything else, for a status below 100, and for 101, which switches to
    /// a protocol that was not requested.
    init?(statusLine line: ByteBufferView) {
        let parts = line.split(maxSplits: 1, omittingEmptySubsequences: true, whereSeparator: \.isBlank)
        guard parts.count == 2, String(decoding: parts[0].prefix(5), as: UTF8.self).lowercased() == "http/" else {
            return nil
        }
        let version = Array(parts[0].dropFirst(5))
        let code = parts[1].drop(while: \.isBlank).prefix(while: \.isASCIIDigit)
        guard version.count == 3, version[0].isASCIIDigit, version[1] == UInt8(ascii: "."), version[2].isASCIIDigit,
            code.count == 3, let status = Int(String(decoding: code, as: UTF8.self)), status >= 100, status != 101
        else { return nil }
        self.status = status
        isOld = (version[0], version[2]) < (UInt8(ascii: "1"), UInt8(ascii: "1"))
    }

    /// Adds a line that is not empty. A line that is no field is ignored, as browsers do.
    ///
    /// - Returns: false if the line has NUL, with which no browser accepts a response.
    mutating func append(_ line: ByteBufferView) -> Bool {
        guard !line.contains(0) else { return false }
        // The fields of interim responses are not used.
        guard status >= 200 else { return true }
        // RFC 9112 §5.2: a line that begins with a blank continues the one before.
        if line.first?.isBlank == true {
            isRegular = false
            guard let last = fields.indices.last else { return true }
            let value = text(line, of: fields[last].name)
            fields[last].value += " \(value)"
            return true
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            isRegular = false
            return true
        }
        let name = line[..<colon].trimmingBlanks
        isRegular = isRegular && name.endIndex == colon
        guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else {
            isRegular = false
            return true
        }
        let field = String(decoding: name, as: UTF8.self)
        fields.append((field, text(line[(colon + 1)...], of: field)))
        return true
    }

    /// The text of a value, with control characters replaced by spaces (RFC 9110 §5.5).
    private mutating func text(_ bytes: ByteBufferView, of name: String) -> String {
        var bytes = Array(bytes.trimmingBlanks)
        if bytes.contains(where: \.isControl) {
            isRegular = false
            bytes = bytes.map { $0.isControl ? 0x20 : $0 }
        }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        // A URL means bytes: escaped, they stay what they are in whichever encoding.
        guard name.lowercased() == "location" else { return String(decoding: bytes, as: UTF8.self) }
        return bytes.map { byte in
            byte < 0x80 ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}

/// Where a response ends (RFC 9112 §6.3).
struct ResponseFraming {
    enum Length: Equatable {
        case bytes(Int)
        case chunks, unknown
    }

    let length: Length
    /// The fields of the head, of which exactly one states the length.
    private(set) var fields = HTTPHeaders()
    /// Whether the head states the length in one way, which it does not contradict.
    private(set) var isRegular: Bool

    /// Nil if the response is not chunked and its lengths differ.
    init?(_ head: ResponseHead, hasBody: Bool) {
        var lengths: [Substring] = []
        var codings: [String] = []
        for (name, value) in head.fields {
            switch name.lowercased() {
            case "content-length": lengths += value[...].listMembers
            case "transfer-encoding": codings += value[...].listMembers.map { $0.lowercased() }
            default: fields.add(name: name, value: value)
            }
        }
        let isChunked = codings.contains("chunked")
        // As in browsers, a length that is empty or not a number is ignored.
        let stated = lengths.filter { !$0.isEmpty }
        let sizes = Set(stated.map { Int(digits: $0) })
        guard isChunked || sizes.count <= 1 else { return nil }
        let size = isChunked ? nil : sizes.first ?? nil
        isRegular = codings.isEmpty ? lengths.count <= 1 && stated.count == lengths.count : codings == ["chunked"]
        isRegular = isRegular && !(isChunked && (head.isOld || !lengths.isEmpty))
        if let size { fields.add(name: "content-length", value: "\(size)") }
        guard hasBody else {
            length = .bytes(0)
            return
        }
        if isChunked { fields.add(name: "transfer-encoding", value: "chunked") }
        length = isChunked ? .chunks : size.map { .bytes($0) } ?? .unknown
        isRegular = isRegular && length != .unknown
    }
}

extension HTTPFields {
    /// The fields of a received head, without names and values that RFC 9110 does not allow.
    package init(received headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers {
            guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }
}

extension Substring {
    /// All members of a list, empty ones included.
    fileprivate var listMembers: [Substring] {
        split(separator: ",", omittingEmptySubsequences: false).map(\.trimmingBlanks)
    }
}

extension ByteBufferView {
    fileprivate var trimmingBlanks: ByteBufferView {
        let start = firstIndex { !$0.isBlank } ?? endIndex
        let end = lastIndex { !$0.isBlank }.map { $0 + 1 } ?? start
        return self[start..<end]
    }
}

extension UInt8 {
    /// A control character other than a tab.
    fileprivate var isControl: Bool { self < 0x20 && self != 0x09 || self == 0x7f }
}
