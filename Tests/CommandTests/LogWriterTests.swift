import Foundation
import Logging
import Synchronization
import Testing

@testable import DarkroomCommand
@testable import DarkroomHTTPServer

@Suite(.timeLimit(.minutes(5)))
struct LogWriterTests {
    private let pipe = Pipe()
    /// Longer than a busy machine may keep the writer from running.
    private static let limit = DispatchTimeInterval.seconds(30)

    private func writer(_ format: LogFormat = .text, limits: LogQueue.Limits = .init()) -> LogWriter {
        LogWriter(format: format, descriptor: pipe.fileHandleForWriting.fileDescriptor, limits: limits)
    }

    private func entry(_ number: Int) -> AccessLogEntry {
        AccessLogEntry(
            method: "GET", path: "/\(number)", status: 200, bytes: nil, duration: .zero, requestID: "\(number)")
    }

    private func logger(_ writer: LogWriter) -> Logger {
        Logger(label: "test") { _ in LineLogHandler(writer: writer) }
    }

    /// Reads the lines that are in the pipe by now.
    private func lines() -> [String] {
        let reader = pipe.fileHandleForReading
        var entry = pollfd(fd: reader.fileDescriptor, events: Int16(POLLIN), revents: 0)
        var data = Data()
        while poll(&entry, 1, 0) > 0 { data += reader.availableData }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Fills the pipe, so that the next write blocks. Returns the number of bytes in it.
    private func fill() -> Int {
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        defer { _ = fcntl(descriptor, F_SETFL, flags) }
        var (total, size) = (0, 4_096)
        while size > 0 {
            let count = write(descriptor, [UInt8](repeating: UInt8(ascii: "."), count: size), size)
            if count > 0 { total += count } else { size /= 2 }
        }
        return total
    }

    @Test func `Requests and other lines are written in the order of their arrival`() {
        let writer = writer()
        let logger = logger(writer)
        for number in 0..<100 {
            writer.append(entry(number))
            logger.warning("after", metadata: ["number": "\(number)"])
        }
        #expect(writer.flush(within: Self.limit))
        let numbers = lines().map { String($0.split(separator: "=").last { !$0.hasPrefix("200") } ?? "") }
        let expected = (0..<100).flatMap { ["\($0) status", "\($0)"] }
        #expect(numbers == expected)
        #expect(writer.droppedCount == 0)
    }

    @Test func `A blocked reader stalls no caller, and what was dropped is counted and reported once it reads again`() {
        let (limit, count) = (80, 1_000)
        let filled = fill()
        let writer = writer(limits: .init(lines: limit, bytes: 1 << 20))
        // Returns although nothing can be written; the writer holds one batch at most.
        for number in 0..<count { writer.append(entry(number)) }
        logger(writer).critical("at last")
        let dropped = writer.droppedCount
        #expect(dropped >= count - 2 * limit)
        #expect(!writer.flush(within: .milliseconds(1)))
        #expect(pipe.fileHandleForReading.readData(ofLength: filled).allSatisfy { $0 == UInt8(ascii: ".") })
        #expect(writer.flush(within: Self.limit))
        writer.append(entry(count))
        #expect(writer.flush(within: Self.limit))
        let lines = lines()
        #expect(lines.count { $0.contains(" info request ") } == count + 1 - dropped)
        #expect(lines.contains { $0.hasSuffix(" critical at last") })
        // Two reports if the writer took its one batch only after lines had been dropped.
        let reports = lines.filter { $0.contains(" error log lines dropped ") }
        #expect((1...2).contains(reports.count))
        #expect(reports.compactMap { $0.split(separator: "=").last.flatMap { Int($0) } }.reduce(0, +) == dropped)
        #expect(lines.last?.contains("path=/\(count) ") == true)
        #expect(writer.droppedCount == dropped)
    }

    @Test func `Lines that cannot be written are counted, and a closed pipe ends nothing`() throws {
        let writer = writer()
        try pipe.fileHandleForReading.close()
        for number in 0..<3 { writer.append(entry(number)) }
        #expect(writer.flush(within: Self.limit))
        writer.append(entry(3))
        #expect(writer.flush(within: Self.limit))
        #expect(writer.droppedCount == 4)
    }

    @Test func `Many threads lose no line`() async {
        let writer = writer(.json)
        let reader = Task.detached { [pipe] in
            var (text, newlines) = (Data(), 0)
            while newlines < 4_000 {
                let data = pipe.fileHandleForReading.availableData
                newlines += data.count { $0 == UInt8(ascii: "\n") }
                text += data
            }
            return text
        }
        await withTaskGroup(of: Void.self) { tasks in
            for first in 0..<4 {
                tasks.addTask { for number in 0..<1_000 { writer.append(entry(first * 1_000 + number)) } }
            }
        }
        let ids = await reader.value.split(separator: UInt8(ascii: "\n")).compactMap {
            (try? JSONSerialization.jsonObject(with: $0) as? [String: Any])?["request-id"] as? String
        }
        #expect(ids.count == 4_000 && Set(ids).count == 4_000)
        for first in 0..<4 {
            let own = ids.compactMap(Int.init).filter { $0 / 1_000 == first }
            #expect(own == own.sorted())
        }
        #expect(writer.droppedCount == 0)
    }
}
