import DarkroomNetwork
package import NIOCore

/// Takes the only file out of a `multipart/form-data` body (RFC 7578), while the body arrives in pieces of any size.
///
/// It is stricter than the RFC: one part, which is a file; little other content; and no transfer encoding. Its memory
/// is bounded by ``maxHeaderBytes``.
package struct MultipartReader: Sendable {
    private enum State {
        /// Before the first delimiter.
        case preamble
        /// After a delimiter, on the same line.
        case delimiterLine
        case header, content, epilogue
    }

    /// CR, LF, two hyphens and the boundary (RFC 2046 §5.1.1).
    private let delimiter: [UInt8]
    private var state = State.preamble
    /// How much of the delimiter has been read at the end of the last piece. The body begins as after a line break.
    private var matched = 2
    /// The line or header that is being read.
    private var text: [UInt8] = []
    /// The bytes of preamble or epilogue so far.
    private var skippedBytes = 0
    private var files = 0

    /// The most bytes that the header of a part may have.
    package static let maxHeaderBytes = 8 << 10
    /// The most bytes before the first delimiter, and after the last delimiter.
    package static let maxSkippedBytes = 1 << 10
    /// The most bytes that a body may have in addition to its file.
    package static let maxOverheadBytes = maxHeaderBytes + 2 * maxSkippedBytes + 1 << 10
    private static let maxLineBytes = 128

    /// Nil unless the boundary has 1 to 70 of the characters that RFC 2046 §5.1.1 allows, and no space at its end.
    package init?(boundary: String) {
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.last != UInt8(ascii: " "),
            boundary.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "'()+_,-./:=? ".utf8.contains($0) })
        else { return nil }
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    /// Reads the next piece of the body, and returns the pieces of the file in it.
    package mutating func read(_ piece: ByteBuffer) throws(MultipartFlaw) -> [ByteBuffer] {
        var rest = piece
        var file: [ByteBuffer] = []
        while rest.readableBytes > 0 {
            switch state {
            case .preamble:
                var preamble: [ByteBuffer] = []
                let isOver = takeContent(&rest, into: &preamble)
                try skip(preamble.reduce(0) { $0 + $1.readableBytes }, flaw: .preamble)
                if isOver { state = .delimiterLine }
            case .delimiterLine:
                if try takeLine(&rest, atMost: Self.maxLineBytes, flaw: .malformedDelimiter) { try endDelimiter() }
            case .header:
                guard try takeLine(&rest, atMost: Self.maxHeaderBytes, flaw: .headerTooLarge) else { break }
                guard endsLine else { throw .malformedHeader }
                if text.count == 2 || text.suffix(4).elementsEqual("\r\n\r\n".utf8) { try endHeader() }
            case .content: if takeContent(&rest, into: &file) { state = .delimiterLine }
            case .epilogue:
                try skip(rest.readableBytes, flaw: .epilogue)
                rest.clear()
            }
        }
        return file
    }

    /// Throws unless the body was complete at the end of the last piece.
    package func finish() throws(MultipartFlaw) {
        // The line break after the last delimiter may be missing.
        guard state == .epilogue || state == .delimiterLine && isClosing && text.dropFirst(2).allSatisfy(\.isBlank)
        else {
            throw .incomplete
        }
        guard files == 1 else { throw .noFile }
    }

    private var isClosing: Bool { text.starts(with: "--".utf8) }

    /// Whether the line ends as it must, with CR and LF.
    private var endsLine: Bool { text.suffix(2).elementsEqual("\r\n".utf8) }

    /// Handles the end of a delimiter's line, and starts the next part or the epilogue.
    private mutating func endDelimiter() throws(MultipartFlaw) {
        guard endsLine, text.dropLast(2).dropFirst(isClosing ? 2 : 0).allSatisfy(\.isBlank)
        else { throw .malformedDelimiter }
        if isClosing {
            state = .epilogue
        } else {
            guard files == 0 else { throw .severalParts }
            state = .header
        }
        text = []
        skippedBytes = 0
    }

    private mutating func endHeader() throws(MultipartFlaw) {
        let head = try MultipartPartHead(parsing: text)
        guard head.isFile else { throw .fieldWithoutFile(head.name) }
        files += 1
        text = []
        state = .content
    }

    private mutating func skip(_ count: Int, flaw: MultipartFlaw) throws(MultipartFlaw) {
        skippedBytes += count
        guard skippedBytes <= Self.maxSkippedBytes else { throw flaw }
    }

    /// Adds bytes to ``text`` up to and including the next LF, and returns whether there is one.
    private mutating func takeLine(
        _ rest: inout ByteBuffer, atMost maxBytes: Int, flaw: MultipartFlaw
    ) throws(MultipartFlaw) -> Bool {
        let view = rest.readableBytesView
        let end = view.firstIndex(of: UInt8(ascii: "\n"))
        let count = (end.map { $0 + 1 } ?? view.endIndex) - view.startIndex
        guard text.count + count <= maxBytes else { throw flaw }
        text += view.prefix(count)
        rest.moveReaderIndex(forwardBy: count)
        return end != nil
    }

    /// Takes bytes up to and including the next delimiter, and returns whether there is one. Bytes that may begin a
    /// delimiter are held back.
    private mutating func takeContent(_ rest: inout ByteBuffer, into content: inout [ByteBuffer]) -> Bool {
        if matched > 0 {
            let count = min(rest.readableBytes, delimiter.count - matched)
            guard rest.readableBytesView.prefix(count).elementsEqual(delimiter[matched..<matched + count]) else {
                // A delimiter begins with its only CR, so no other delimiter begins within the held bytes.
                content.append(ByteBuffer(bytes: delimiter[..<matched]))
                matched = 0
                return takeContent(&rest, into: &content)
            }
            rest.moveReaderIndex(forwardBy: count)
            return complete(with: matched + count)
        }
        let (count, match) = rest.withUnsafeReadableBytes { delimiter.search(in: $0) }
        if count > 0, let slice = rest.readSlice(length: count) { content.append(slice) }
        rest.moveReaderIndex(forwardBy: match)
        return complete(with: match)
    }

    private mutating func complete(with match: Int) -> Bool {
        matched = match == delimiter.count ? 0 : match
        return match == delimiter.count
    }
}

extension [UInt8] {
    /// The number of bytes before this delimiter, and the length of the found part: the whole delimiter, its beginning
    /// at the end of the bytes, or 0.
    fileprivate func search(in bytes: UnsafeRawBufferPointer) -> (before: Int, match: Int) {
        var start = 0
        while let found = bytes[start...].firstIndex(of: UInt8(ascii: "\r")) {
            let candidate = bytes[found...].prefix(count)
            if candidate.elementsEqual(prefix(candidate.count)) { return (found, candidate.count) }
            start = found + 1
        }
        return (bytes.count, 0)
    }
}

/// A fault of a form.
package enum MultipartFlaw: Error, Hashable, Sendable {
    case preamble, epilogue, malformedDelimiter, malformedHeader, headerTooLarge, encodedPart, severalParts, noFile
    case incomplete
    /// A part that is not a file, with the name of its field.
    case fieldWithoutFile(String)
}

extension MultipartFlaw: CustomStringConvertible {
    /// One sentence that states what is allowed.
    package var description: String {
        switch self {
        case .preamble: "The form must begin with its boundary, as the Content-Type states it."
        case .epilogue: "The form must end after its closing boundary."
        case .malformedDelimiter: "A boundary of the form must be alone on its line."
        case .malformedHeader:
            "The form's part must have the field Content-Disposition: form-data, with a name and a filename, and only "
                + "well-formed fields besides."
        case .headerTooLarge:
            "The header of the form's part must be at most \(MultipartReader.maxHeaderBytes) bytes long."
        case .encodedPart: "The form's file must be sent as it is, without a Content-Transfer-Encoding."
        case .severalParts: "The form must have one file and nothing else; parameters belong in the query."
        case .noFile: "The form has no file."
        case .incomplete: "The form is incomplete: its closing boundary is missing."
        case .fieldWithoutFile(let name):
            "The form's field '\(name.prefix(40).filter { $0.isASCII && !$0.isNewline })' is not a file; parameters "
                + "belong in the query."
        }
    }
}
