import DarkroomCSandbox
import Foundation

/// One end of the socket between the server and a worker: whole messages, each with one piece of sealed memory at the most.
struct MessageSocket: Sendable {
    let descriptor: Int32

    /// The longest message. Pictures are never in it.
    static let maxMessageBytes = 64 << 10

    /// What came of waiting.
    enum Event: Equatable {
        case message
        case closed
        case nothing
    }

    /// Never waits: a side that does not read is `.system(EAGAIN)`.
    func send(_ message: some Encodable, with memory: SealedMemory? = nil) throws(WireError) {
        guard let bytes = try? JSONEncoder().encode(message), bytes.count <= Self.maxMessageBytes else {
            throw .malformed
        }
        let result = withExtendedLifetime(memory) {
            bytes.withUnsafeBytes { darkroom_send(descriptor, $0.baseAddress, $0.count, memory?.descriptor ?? -1) }
        }
        _ = try WireError.checked(result)
    }

    /// Waits for the next message.
    func receive<Message: Decodable>(
        _ type: Message.Type
    ) throws(WireError) -> (message: Message, memory: SealedMemory?) {
        var attached: Int32 = -1
        var bytes = Data(count: Self.maxMessageBytes)
        let count = bytes.withUnsafeMutableBytes {
            darkroom_receive(descriptor, $0.baseAddress, $0.count, &attached)
        }
        let memory = attached < 0 ? nil : SealedMemory(received: attached)
        guard try WireError.checked(count) > 0 else { throw .closed }
        guard let message = try? JSONDecoder().decode(type, from: bytes.prefix(Int(count))) else { throw .malformed }
        return (message, memory)
    }

    /// Waits for a message or the other side's end, but no longer than that many milliseconds.
    func wait(milliseconds: Int32) -> Event {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return .nothing }
        return entry.revents & Int16(POLLIN) != 0 ? .message : .closed
    }
}
