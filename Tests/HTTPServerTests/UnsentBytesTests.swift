import NIOCore
import Synchronization
import Testing

@testable import DarkroomHTTPServer

@Suite struct UnsentBytesTests {
    /// The readers that were ended, by name.
    private final class Ended: Sendable {
        private let names = Mutex<[String]>([])

        var all: [String] { names.withLock(\.self) }

        func reader(_ name: String, of client: String?) -> UnsentBytes.Reader {
            UnsentBytes.Reader(client: client) { self.names.withLock { $0.append(name) } }
        }
    }

    private let ended = Ended()

    /// A buffer of its own.
    private func buffer(_ bytes: Int) -> ByteBuffer { ByteBuffer(repeating: 7, count: bytes) }

    private func update(
        _ unsent: UnsentBytes, _ reader: UnsentBytes.Reader, _ buffers: [ByteBuffer], seconds: Int64 = 30
    ) {
        unsent.update(
            reader, holding: buffers.map(UnsentBytes.Buffer.init), until: .uptimeNanoseconds(1) + .seconds(seconds))
    }

    @Test func `A body that several readers share counts once, until the last of them has it`() {
        let unsent = UnsentBytes(budgetBytes: 1_000)
        let (shared, own) = (buffer(300), buffer(100))
        let readers = (0..<3).map { ended.reader("\($0)", of: "client \($0)") }
        update(unsent, readers[0], [shared])
        update(unsent, readers[1], [shared])
        update(unsent, readers[2], [shared, own])
        #expect(unsent.bytes == 400)
        update(unsent, readers[2], [own])
        unsent.remove(readers[0])
        #expect(unsent.bytes == 400)
        update(unsent, readers[1], [])
        #expect(unsent.bytes == 100)
        unsent.remove(readers[2])
        unsent.remove(readers[2])
        #expect(unsent.bytes == 0)
        #expect(ended.all == [])
    }

    @Test func `Beyond the budget, the client with the most bytes loses what it reads most slowly`() {
        let unsent = UnsentBytes(budgetBytes: 1_000)
        let buffers = (0..<5).map { _ in buffer(200) }
        update(unsent, ended.reader("a 1", of: "a"), [buffers[0]], seconds: 9)
        update(unsent, ended.reader("a 2", of: "a"), [buffers[1]], seconds: 5)
        update(unsent, ended.reader("b", of: "b"), [buffers[2]], seconds: 1)
        update(unsent, ended.reader("c", of: "c"), [buffers[3]], seconds: 1)
        update(unsent, ended.reader("d", of: "d"), [buffers[4]], seconds: 1)
        #expect(ended.all == [])
        let more = buffer(50)
        update(unsent, ended.reader("e", of: "e"), [more], seconds: 30)
        #expect(ended.all == ["a 2"])
        #expect(unsent.bytes == 850)
    }

    @Test func `One client may have half of the budget`() {
        let unsent = UnsentBytes(budgetBytes: 1_000)
        let buffers = (0..<4).map { _ in buffer(200) }
        for (number, seconds) in [Int64(30), 20, 25].enumerated() {
            update(unsent, ended.reader("\(number)", of: "a"), [buffers[number]], seconds: seconds)
        }
        #expect(ended.all == ["1"])
        update(unsent, ended.reader("b", of: "b"), [buffers[3]])
        #expect(ended.all == ["1"])
        #expect(unsent.bytes == 600)
    }

    @Test func `Clients behind a proxy share no budget of one client`() {
        let unsent = UnsentBytes(budgetBytes: 1_000)
        let buffers = (0..<6).map { _ in buffer(200) }
        for number in 0..<5 {
            update(unsent, ended.reader("\(number)", of: nil), [buffers[number]], seconds: 30 - Int64(number))
        }
        #expect(ended.all == [])
        update(unsent, ended.reader("5", of: nil), [buffers[5]])
        #expect(ended.all.count == 1)
    }

    @Test func `A single response may exceed the budget`() {
        let unsent = UnsentBytes(budgetBytes: 1_000)
        let (large, small) = (buffer(3_000), buffer(10))
        let reader = ended.reader("large", of: "a")
        update(unsent, reader, [large], seconds: 1)
        update(unsent, reader, [large], seconds: 2)
        #expect(ended.all == [])
        update(unsent, ended.reader("small", of: "b"), [small])
        #expect(ended.all == ["large"])
        #expect(unsent.bytes == 10)
    }
}
