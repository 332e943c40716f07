package import HTTPTypes

/// The members of a list in an HTTP field (RFC 9110 §5.6.1), or the parameters of one member (§5.6.6).
///
/// A separator inside a quoted string (§5.6.4) does not separate.
package struct FieldList {
    /// The members in order, without the blanks around them. Empty members are included: RFC 9110 §5.6.1.2 asks
    /// recipients to ignore them in lists, but not in every grammar that is split this way.
    package private(set) var members: [Substring] = []

    /// Whether the last quoted string has no closing quote. Where the members end is uncertain in that case.
    package private(set) var hasUnclosedQuote = false

    /// Splits a field value, or one member of it, at each separator outside quoted strings.
    package init(_ text: some StringProtocol, separator: UInt8 = UInt8(ascii: ",")) {
        let text = Substring(text)
        var start = text.startIndex
        var isEscaped = false
        for index in text.utf8.indices {
            let byte = text.utf8[index]
            if isEscaped {
                isEscaped = false
            } else if hasUnclosedQuote, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                hasUnclosedQuote.toggle()
            } else if byte == separator, !hasUnclosedQuote {
                members.append(text[start..<index].trimmingBlanks)
                start = text.utf8.index(after: index)
            }
        }
        members.append(text[start...].trimmingBlanks)
    }
}

extension Substring {
    /// The text without the spaces and tabs around it.
    package var trimmingBlanks: Substring {
        let start = utf8.firstIndex { !$0.isBlank } ?? utf8.endIndex
        let end = utf8.lastIndex { !$0.isBlank }.map { utf8.index(after: $0) } ?? start
        return self[start..<end]
    }

    /// The members of a list whose grammar has no quoted strings, such as `Vary`: split at commas, without the blanks
    /// around them and without empty members.
    package var plainListMembers: [Substring] {
        utf8.split(separator: UInt8(ascii: ",")).map { Substring($0).trimmingBlanks }.filter { !$0.isEmpty }
    }
}

/// A cursor over an HTTP field value that takes tokens and quoted strings from its front (RFC 9110 §5.6).
package struct FieldReader {
    /// The part that has not been read yet.
    package private(set) var rest: Substring.UTF8View

    /// A reader at the start of the text.
    package init(_ text: some StringProtocol) {
        rest = Substring(text).utf8
    }

    /// Whether everything has been read.
    package var isAtEnd: Bool { rest.isEmpty }

    /// Takes the longest run of bytes that satisfy the condition; it may be empty.
    package mutating func take(while condition: (UInt8) -> Bool) -> Substring.UTF8View {
        let taken = rest.prefix(while: condition)
        rest = rest[taken.endIndex...]
        return taken
    }

    package mutating func skipBlanks() {
        rest = rest.drop(while: \.isBlank)
    }

    /// Skips the blanks and commas at the front, and with them empty list members.
    package mutating func skipBlanksAndCommas() {
        rest = rest.drop { $0.isBlank || $0 == UInt8(ascii: ",") }
    }

    /// Takes the ASCII character if it is next, and reports whether it was.
    package mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let byte = rest.first, UInt32(byte) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Takes a quoted string (RFC 9110 §5.6.4) and returns it without its quotes and escapes. Takes nothing and returns
    /// nil if none is next or if it has no closing quote.
    package mutating func quotedString() -> String? {
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        var text: [UInt8] = []
        var bytes = rest.dropFirst()
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                rest = bytes
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = bytes.popFirst() else { return nil }
                text.append(escaped)
            default:
                text.append(byte)
            }
        }
        return nil
    }

    /// Takes a token (RFC 9110 §5.6.2). Returns nil if none is next.
    package mutating func token() -> String? {
        let token = take(while: \.isTokenCharacter)
        return token.isEmpty ? nil : String(Substring(token))
    }
}

extension HTTPField.Name {
    /// A field name that is written out in source code. A malformed name is a programming error and stops the process.
    package static func known(_ name: StaticString) -> HTTPField.Name {
        guard let name = HTTPField.Name("\(name)") else { preconditionFailure("'\(name)' is not a field name") }
        return name
    }

    /// `Pragma`, the predecessor of `Cache-Control` (RFC 9111 §5.4).
    package static let pragma = known("Pragma")
}
