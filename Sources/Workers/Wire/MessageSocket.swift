import DarkroomCSandbox
import DarkroomMachine
import Foundation

/// One end of the socket between the server and a worker. Carries whole messages, each with at most one sealed memory
/// file.
struct MessageSocket: Sendable {
    let descriptor: Int32

    /// Maximum message size in bytes. Image data travels in sealed memory instead.
    static let maxMessageBytes = 64 << 10

    /// Result of ``wait(milliseconds:)``.
    enum Event: Equatable {
        case message
        case closed
        case nothing
    }

    /// Never blocks: throws `.system(EAGAIN)` if the peer does not read.
    func send(_ message: some Encodable, with memory: MemoryFile? = nil) throws(WireError) {
        guard let bytes = try? JSONEncoder().encode(message), bytes.count <= Self.maxMessageBytes else {
            throw .malformed
        }
        let result = withExtendedLifetime(memory) {
            bytes.withUnsafeBytes { darkroom_send(descriptor, $0.baseAddress, $0.count, memory?.descriptor ?? -1) }
        }
        _ = try WireError.checked(result)
    }

    /// Blocks until the next message.
    func receive<Message: Decodable>(
        _ type: Message.Type
    ) throws(WireError) -> (message: Message, memory: MemoryFile?) {
        var attached: Int32 = -1
        var bytes = Data(count: Self.maxMessageBytes)
        let count = bytes.withUnsafeMutableBytes {
            darkroom_receive(descriptor, $0.baseAddress, $0.count, &attached)
        }
        let memory = attached < 0 ? nil : try? MemoryFile(received: attached)
        guard try WireError.checked(count) > 0 else { throw .closed }
        guard (attached < 0) == (memory == nil) else { throw .malformed }
        guard let message = try? JSONDecoder().decode(type, from: bytes.prefix(Int(count))) else { throw .malformed }
        return (message, memory)
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
