import DarkroomCSandbox
import DarkroomMachine
import Foundation
import NIOCore
import Synchronization

/// One end of the socket between the server and a worker. Carries whole messages: fields, and after them at most one
/// body and one descriptor. One thread at a time receives.
final class MessageSocket: Sendable {
    let descriptor: Int32
    /// Reused by every message; its pages take memory only once a message has filled them.
    private let buffer: Mutex<UnsafeMutableRawBufferPointer>

    /// Maximum length of the fields of a message in bytes.
    static let maxFieldBytes = 16 << 10
    /// Maximum length of a body in a message. A longer body is passed in sealed memory.
    static let maxBodyBytes = 128 << 10

    /// Result of ``wait(milliseconds:)``.
    enum Event: Equatable {
        case message
        case closed
        case nothing
    }

    /// A message with its body and its descriptor.
    struct Received<Message> {
        let message: Message
        /// Empty without a body.
        let body: ByteBuffer
        let memory: MemoryFile?
    }

    /// - Parameters:
    ///   - descriptor: is not closed with this object.
    ///   - maxBodyBytes: the longest body that is received.
    init(descriptor: Int32, maxBodyBytes: Int = 0) {
        self.descriptor = descriptor
        let capacity = Self.maxFieldBytes + maxBodyBytes
        buffer = Mutex(.allocate(byteCount: capacity, alignment: MemoryLayout<Int>.alignment))
    }

    deinit { buffer.withLock { $0.deallocate() } }

    /// Never blocks: throws `.system(EAGAIN)` if the peer does not read, and `.system(EMSGSIZE)` if this system limits
    /// messages to less than the body.
    ///
    /// - Parameter attached: a descriptor to send along, unless negative.
    func send(_ message: some Encodable, body: ByteBuffer = ByteBuffer(), attached: Int32 = -1) throws(WireError) {
        let fields = try WireEncoder.bytes(of: message)
        guard fields.readableBytes <= Self.maxFieldBytes else { throw .malformed }
        let result = fields.withUnsafeReadableBytes { fields in
            body.withUnsafeReadableBytes { body in
                darkroom_send(descriptor, fields.baseAddress, fields.count, body.baseAddress, body.count, attached)
            }
        }
        _ = try WireError.checked(result)
    }

    /// Blocks until the next message. Throws `.malformed` if it comes with a descriptor that is not of sealed memory.
    func receive<Message: Decodable & Sendable>(_ type: Message.Type) throws(WireError) -> Received<Message> {
        let (message, body, attached) = try receiveAttached(type)
        guard attached >= 0 else { return Received(message: message, body: body, memory: nil) }
        guard let memory = try? MemoryFile(received: attached) else { throw .malformed }
        return Received(message: message, body: body, memory: memory)
    }

    /// Blocks until the next message. The caller closes the descriptor that came with it, unless that is -1.
    func receiveAttached<Message: Decodable & Sendable>(
        _ type: Message.Type
    ) throws(WireError) -> (message: Message, body: ByteBuffer, attached: Int32) {
        var attached: Int32 = -1
        do throws(WireError) {
            return try buffer.withLock { (buffer) throws(WireError) in
                let count = darkroom_receive(descriptor, buffer.baseAddress, buffer.count, &attached)
                guard try WireError.checked(count) > 0 else { throw .closed }
                var bytes = ByteBuffer(bytes: buffer[..<count])
                return (try WireDecoder.read(Message.self, from: &bytes), bytes, attached)
            }
        } catch {
            if attached >= 0 { close(attached) }
            throw error
        }
    }

    /// Waits for a message or the end of the connection, at most that many milliseconds.
    func wait(milliseconds: Int32) -> Event {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return .nothing }
        return entry.revents & Int16(POLLIN) != 0 ? .message : .closed
    }
}

/// Why a message was not delivered or not accepted.
enum WireError: Error, Equatable {
    /// The peer has closed the connection.
    case closed
    /// The message or its memory file is not of the expected form.
    case malformed
    /// A system call failed with this `errno`.
    case system(Int32)

    /// The result of a CSandbox function, or its negative `errno` as an error.
    static func checked<Number: BinaryInteger>(_ result: Number) throws(WireError) -> Number {
        guard result < 0 else { return result }
        switch Int32(-Int(result)) {
        case EPIPE, ECONNRESET: throw .closed
        case EBADMSG: throw .malformed
        case let number: throw .system(number)
        }
    }
}
