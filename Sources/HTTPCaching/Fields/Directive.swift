/// One member of a `Cache-Control` field (RFC 9111 §5.2).
struct Directive: Hashable {
    enum Argument: Hashable {
        case none
        /// What stands behind `=`, quoted or not.
        case text(String)
        /// There is something, but not what the grammar allows.
        case malformed
    }

    /// In lower case.
    var name: String
    var argument: Argument
}

/// The members of a `Cache-Control` field, of a request or a response.
///
/// What breaks the grammar is still read, so that a slip of the pen cannot hide a restriction: the name counts up to the
/// first byte that no name has, and a quote that is never closed hides nothing behind it.
struct DirectiveList: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = ArraySlice(text.utf8)
    }

    mutating func next() -> Directive? {
        _ = take { Self.isBlank($0) || $0 == UInt8(ascii: ",") }
        guard !rest.isEmpty else { return nil }
        let name = take { !Self.isBlank($0) && !Self.ends.contains($0) }
        let gap = take { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
        var argument = Directive.Argument.none
        if rest.first == UInt8(ascii: "=") {
            rest = rest.dropFirst()
            argument = self.argument()
            if !gap.isEmpty { argument = .malformed }
        } else if !gap.allSatisfy(Self.isBlank) {
            argument = .malformed
        }
        return Directive(name: String(decoding: name, as: UTF8.self).lowercased(), argument: argument)
    }

    private mutating func argument() -> Directive.Argument {
        if rest.first == UInt8(ascii: "\""), let text = quoted() {
            return take { $0 != UInt8(ascii: ",") }.allSatisfy(Self.isBlank) ? .text(text) : .malformed
        }
        let raw = take { $0 != UInt8(ascii: ",") }
        let end = raw.lastIndex { !Self.isBlank($0) }.map { $0 + 1 } ?? raw.startIndex
        let token = raw[..<end]
        guard !token.isEmpty, !token.contains(where: { Self.isBlank($0) || $0 == UInt8(ascii: "\"") }) else {
            return .malformed
        }
        return .text(String(decoding: token, as: UTF8.self))
    }

    /// A quoted string (RFC 9110 §5.6.4) without its quotes; nil, and nothing taken, where it does not end.
    private mutating func quoted() -> String? {
        var text: [UInt8] = []
        var index = rest.startIndex + 1
        while index < rest.endIndex, rest[index] != UInt8(ascii: "\"") {
            if rest[index] == UInt8(ascii: "\\"), index + 1 < rest.endIndex { index += 1 }
            text.append(rest[index])
            index += 1
        }
        guard index < rest.endIndex else { return nil }
        rest = rest[(index + 1)...]
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func take(while isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = rest.prefix(while: isWanted)
        rest = rest[taken.endIndex...]
        return taken
    }

    private static let ends = Array(",=;\"".utf8)
    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
