import DarkroomNetwork
package import NIOCore
package import NIOHTTP1

/// Parses the response to one request as leniently as browsers do, which RFC 9112 allows a client (§2.2, §5, §6.3).
///
/// What a strict parser would refuse is repaired: fields without meaning are left out, and of contradicting lengths
/// chunks take precedence. The connection of such a response must not be used again, so that an error about where the
/// response ends never reaches another response. A pure function of the bytes, however they are divided.
package struct ResponseParser {
    package enum Failure: String, Error, CustomStringConvertible {
        /// The response cannot be understood, or takes more work than its bytes warrant.
        case malformed = "the response is not valid HTTP"
        case incomplete = "the connection was closed within the response"

        /// The end of a sentence about the server, without its period.
        package var description: String { rawValue }
    }

    private enum State {
        case statusLine, fields
        /// The bytes that follow; nil = up to the end of the connection.
        case body(Int?)
        case chunkSize
        case chunk(Int)
        case chunkEnd, trailers, over
    }

    private let isHEAD: Bool
    private var state = State.statusLine
    /// The head so far. Not part of the state, so that adding a field copies nothing.
    private var head: ResponseHead?
    /// Bytes that have not been parsed yet.
    private var rest = ByteBuffer()
    /// How many of them are known to be part of an unfinished line.
    private var searched = 0
    private var limits = ResponseLimits()
    private var body = ByteBuffer()

    /// Whether another response may follow on the connection.
    package private(set) var keepsConnection = true

    package init(isHEAD: Bool = false) { self.isHEAD = isHEAD }

    package var isOver: Bool { if case .over = state { true } else { false } }

    /// Whether the end of the connection is the only end of the response, or only fields without a meaning are missing.
    package var mayEndHere: Bool {
        switch state {
        case .body(nil), .trailers: true
        default: false
        }
    }

    /// Parses the next bytes of the connection. Whatever follows the response is dropped.
    ///
    /// - Parameter parts: receives the head, few parts of the body, and the end, as far as they have arrived. Interim
    ///   responses are left out.
    package mutating func read(_ bytes: ByteBuffer, into parts: inout [HTTPClientResponsePart]) throws(Failure) {
        if rest.readableBytes == 0 { rest = bytes } else { rest.writeImmutableBuffer(bytes) }
        defer {
            flush(into: &parts)
            if isOver { parts.append(.end(nil)) }
        }
        try limits.countRead()
        while try step(into: &parts) {}
        if isOver, rest.readableBytes > 0 { keepsConnection = false }
        if isOver || rest.readableBytes == 0 { rest = ByteBuffer() }
    }

    /// Handles the end of the connection.
    package mutating func readEnd(into parts: inout [HTTPClientResponsePart]) throws(Failure) {
        if case .statusLine = state, rest.readableBytes == 0 { return }
        guard !isOver else { return }
        guard mayEndHere else { throw .incomplete }
        state = .over
        keepsConnection = false
        parts.append(.end(nil))
    }

    /// Takes one step. Returns false if more bytes are needed, or none.
    private mutating func step(into parts: inout [HTTPClientResponsePart]) throws(Failure) -> Bool {
        switch state {
        case .statusLine:
            guard let line = try nextLine(.head) else { return false }
            // Empty lines in front are remains of the response before.
            guard !line.isEmpty else {
                keepsConnection = false
                return true
            }
            head = ResponseHead(statusLine: line)
            guard head != nil else { throw .malformed }
            state = .fields
        case .fields:
            guard let line = try nextLine(.head) else { return false }
            if line.isEmpty, let head = head.take() { return try begin(head, into: &parts) }
            guard head?.append(line) == true else { throw .malformed }
        case .body(let length):
            guard take(length, into: &parts) > 0 else { return false }
        case .chunkSize:
            try takeSmallChunks()
            guard let line = try nextLine(.chunk) else { return false }
            guard let size = Self.chunkSize(line) else { throw .malformed }
            state = size > 0 ? .chunk(size) : .trailers
        case .chunk(let length):
            guard take(length, into: &parts) > 0 else { return false }
        case .chunkEnd:
            return try skipChunkEnd()
        case .trailers:
            guard let line = try nextLine(.chunk) else { return false }
            if line.isEmpty { state = .over }
        case .over:
            return false
        }
        return true
    }

    private mutating func begin(
        _ head: ResponseHead, into parts: inout [HTTPClientResponsePart]
    ) throws(Failure) -> Bool {
        guard head.status >= 200 else {
            try limits.countInterimResponse()
            state = .statusLine
            return true
        }
        let hasBody = !isHEAD && head.status != 204 && head.status != 304
        guard let framing = ResponseFraming(head, hasBody: hasBody) else { throw .malformed }
        keepsConnection = keepsConnection && framing.isRegular && head.isRegular
        var fields = framing.fields
        if !keepsConnection { fields.replaceOrAdd(name: "connection", value: "close") }
        parts.append(
            .head(
                HTTPResponseHead(
                    version: head.isOld ? .http1_0 : .http1_1, status: HTTPResponseStatus(statusCode: head.status),
                    headers: fields)))
        switch framing.length {
        case .bytes(0): state = .over
        case .bytes(let length): state = .body(length)
        case .unknown: state = .body(nil)
        case .chunks: state = .chunkSize
        }
        return true
    }

    private mutating func flush(into parts: inout [HTTPClientResponsePart]) {
        if body.readableBytes > 0 { parts.append(.body(body)) }
        body = ByteBuffer()
    }

    /// Parts of the body below this size are joined.
    private static let smallPart = 4 << 10

    /// Moves up to so many bytes, all if nil, to the body. Returns the number.
    private mutating func take(_ length: Int?, into parts: inout [HTTPClientResponsePart]) -> Int {
        let count = min(length ?? .max, rest.readableBytes)
        guard count > 0, var part = rest.readSlice(length: count) else { return 0 }
        limits.countBody(count)
        // Small chunks become one part, since each part costs a step in all that follows.
        if count < Self.smallPart {
            body.writeBuffer(&part)
        } else {
            flush(into: &parts)
            parts.append(.body(part))
        }
        if let length {
            let isChunk = if case .chunk = state { true } else { false }
            switch (length - count, isChunk) {
            case (0, true): state = .chunkEnd
            case (0, false): state = .over
            case (let remaining, true): state = .chunk(remaining)
            case (let remaining, false): state = .body(remaining)
            }
        }
        return count
    }

    /// Moves the small chunks that have arrived completely to the body, up to the first chunk with an extension. A body
    /// may consist of one-byte chunks, and a parser step for each would block the event loop.
    private mutating func takeSmallChunks() throws(Failure) {
        let arrived = rest
        let isWithinLimits = arrived.withUnsafeReadableBytes { bytes in
            while let chunk = SmallChunk(bytes, at: arrived.readerIndex.distance(to: rest.readerIndex)) {
                guard limits.affords(chunk.overhead) else { return false }
                limits.countBody(chunk.content.count)
                body.writeBytes(chunk.content)
                rest.moveReaderIndex(forwardBy: chunk.content.count + chunk.overhead)
                searched = 0
            }
            return true
        }
        guard isWithinLimits else { throw .malformed }
    }

    /// The next line without its end, or nil if it has not arrived completely.
    private mutating func nextLine(_ place: ResponseLimits.Place) throws(Failure) -> ByteBufferView? {
        let view = rest.readableBytesView
        guard let end = view[(view.startIndex + searched)...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = view.count
            guard limits.permitsLine(searched, place) else { throw .malformed }
            return nil
        }
        searched = 0
        var line = view[..<end]
        try limits.countLine(line.count + 1, place)
        rest.moveReaderIndex(forwardBy: line.count + 1)
        if line.last == UInt8(ascii: "\r") { line.removeLast() } else { keepsConnection = false }
        return line
    }

    /// Skips the line break behind a chunk.
    private mutating func skipChunkEnd() throws(Failure) -> Bool {
        guard let first = rest.readableBytesView.first else { return false }
        if first == UInt8(ascii: "\r"), rest.readableBytes == 1 { return false }
        guard let line = try nextLine(.chunk), line.isEmpty else { throw .malformed }
        state = .chunkSize
        return true
    }

    /// The size that begins the line of a chunk. Extensions are ignored.
    private static func chunkSize(_ line: ByteBufferView) -> Int? {
        let digits = line.prefix { $0.hexDigitValue != nil }
        let extensions = line[digits.endIndex...].drop(while: \.isBlank)
        guard !digits.isEmpty, extensions.first == nil || extensions.first == UInt8(ascii: ";") else { return nil }
        var size = 0
        for digit in digits {
            guard size <= Int.max >> 8 else { return nil }
            size = size << 4 | Int(digit.hexDigitValue ?? 0)
        }
        return size
    }
}

/// A chunk of at most 255 bytes without an extension.
private struct SmallChunk {
    let content: Slice<UnsafeRawBufferPointer>
    /// The bytes of its size and line breaks.
    let overhead: Int

    init?(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        guard start + 1 < bytes.count, let first = bytes[start].hexDigitValue else { return nil }
        let second = bytes[start + 1].hexDigitValue
        let size = Int(second.map { first << 4 | $0 } ?? first)
        let digits = second == nil ? 1 : 2
        let contentStart = start + digits + 2
        let end = contentStart + size
        guard size > 0, end + 2 <= bytes.count, Self.isLineBreak(bytes, contentStart - 2), Self.isLineBreak(bytes, end)
        else { return nil }
        content = bytes[contentStart..<end]
        overhead = digits + 4
    }

    private static func isLineBreak(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Bool {
        bytes[index] == UInt8(ascii: "\r") && bytes[index + 1] == UInt8(ascii: "\n")
    }
}

/// The work that a response may cause: everything that is not a byte of its body.
private struct ResponseLimits {
    enum Place { case head, chunk }

    /// Lines of all heads of one response, interim responses included.
    private static let maxHeadBytes = 80 << 10
    private static let maxHeadLines = 2_000
    private static let maxInterimResponses = 16
    private static let maxChunkLineBytes = 16 << 10
    /// Lines of chunks, and reads of the socket, for which a body of any size may ask: 16,384 reads of one byte.
    private static let maxOverhead = 128 << 10
    private static let overheadOfRead = 8
    /// One byte more is allowed for so many bytes of the body.
    private static let bytesPerOverhead = 4

    private var headBytes = 0
    private var headLines = 0
    private var interimResponses = 0
    private var overhead = 0
    private var bodyBytes = 0

    mutating func countBody(_ bytes: Int) { bodyBytes += bytes }

    mutating func countRead() throws(ResponseParser.Failure) { try spend(Self.overheadOfRead) }

    mutating func countInterimResponse() throws(ResponseParser.Failure) {
        interimResponses += 1
        guard interimResponses <= Self.maxInterimResponses else { throw .malformed }
    }

    func permitsLine(_ bytes: Int, _ place: Place) -> Bool {
        switch place {
        case .head: headBytes + bytes <= Self.maxHeadBytes
        case .chunk: bytes <= Self.maxChunkLineBytes
        }
    }

    mutating func countLine(_ bytes: Int, _ place: Place) throws(ResponseParser.Failure) {
        guard permitsLine(bytes, place) else { throw .malformed }
        switch place {
        case .head:
            headBytes += bytes
            headLines += 1
            guard headLines <= Self.maxHeadLines else { throw .malformed }
        case .chunk: try spend(bytes)
        }
    }

    private mutating func spend(_ bytes: Int) throws(ResponseParser.Failure) {
        guard affords(bytes) else { throw .malformed }
    }

    mutating func affords(_ bytes: Int) -> Bool {
        overhead += bytes
        return overhead <= Self.maxOverhead + bodyBytes / Self.bytesPerOverhead
    }
}
