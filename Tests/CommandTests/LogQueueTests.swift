import Foundation
import Logging
import Testing

@testable import DarkroomCommand
@testable import DarkroomHTTPServer

struct LogQueueTests {
    private let line = LogQueue.Record.line(Array("line\n".utf8))

    /// A queue that `#expect` may change.
    private final class Queue {
        private var queue: LogQueue

        init(_ limits: LogQueue.Limits = .init()) { queue = LogQueue(limits: limits) }

        var droppedCount: Int { queue.droppedCount }

        func append(_ record: LogQueue.Record, _ level: Logger.Level = .info) -> Bool {
            queue.append(record, level: level)
        }

        func gather() -> Bool { queue.gather() }

        func take() -> LogQueue.Batch? { queue.take() }

        /// The number of lines that are accepted.
        func accepted(_ record: LogQueue.Record, _ level: Logger.Level, of count: Int) -> Int {
            let before = droppedCount
            for _ in 0..<count { _ = queue.append(record, level: level) }
            return count - (droppedCount - before)
        }
    }

    @Test func `Lines without room are dropped and counted, and errors have reserved room`() throws {
        let queue = Queue(.init(lines: 80, bytes: 1 << 20))
        #expect(queue.accepted(line, .warning, of: 100) == 70)
        #expect(queue.accepted(line, .error, of: 100) == 10)
        let batch = try #require(queue.take())
        #expect(batch.records.count == 80)
        #expect(batch.droppedCount == 120 && queue.droppedCount == 120)
        #expect(queue.accepted(line, .warning, of: 100) == 70)
        #expect(try #require(queue.take()).droppedCount == 30)
    }

    @Test(arguments: [true, false])
    func `The bytes that wait are bounded, whatever clients send`(isRequest: Bool) {
        let text = String(repeating: "x", count: 1_000)
        let entry = AccessLogEntry(
            method: "GET", path: text, status: 200, bytes: nil, duration: .zero, requestID: text, cacheStatus: text,
            details: AccessLogDetails(["a": .text(text), "b": .text(text), "c": .text(text), "d": .text(text)]))
        let record = isRequest ? LogQueue.Record.request(entry, Date()) : .line(Array(repeating: 0, count: 3_000))
        let queue = Queue(.init(lines: 10_000, bytes: 80_000))
        for _ in 0..<2 {
            let accepted = queue.accepted(record, .info, of: 100)
            #expect((isRequest ? 14...17 : 18...23).contains(accepted))
            _ = queue.take()
        }
    }

    @Test func `The writer is woken by the first line only, and only after it found nothing`() {
        let queue = Queue()
        #expect(!queue.append(line))
        #expect(queue.take()?.records.count == 1)
        #expect(!queue.append(line))
        #expect(queue.take() != nil)
        #expect(queue.take() == nil)
        #expect(queue.append(line))
        #expect(!queue.append(line))
    }

    @Test func `While lines gather, only a warning wakes the writer, or lines that take half of the room`() {
        let queue = Queue(.init(lines: 80, bytes: 1 << 20))
        #expect(queue.gather())
        #expect(queue.accepted(line, .info, of: 38) == 38)
        #expect(!queue.append(line))
        #expect(queue.append(line))
        #expect(!queue.append(line))
        #expect(!queue.gather(), "They were not taken yet.")
        #expect(queue.take()?.records.count == 41)
        #expect(queue.gather())
        #expect(!queue.append(line))
        #expect(queue.append(line, .warning))
        #expect(queue.take()?.records.count == 2)
        // A warning that comes before lines gather.
        #expect(!queue.append(line, .warning))
        #expect(!queue.gather())
    }
}
