import DarkroomHTTPServer
import Foundation
import Logging
import Synchronization

/// Writes log lines to a descriptor on a thread of its own, so that neither formatting nor a blocked reader delays a
/// request.
///
/// Lines are written in the order in which they arrive, many with one `write(2)`: lines below the level `warning` wait
/// up to 50 ms for more. Lines that arrive while the descriptor blocks wait in a ``LogQueue``. Lines beyond its bounds
/// are counted, and reported in a separate line once writing continues. The thread lives as long as the process.
final class LogWriter: Sendable {
    let format: LogFormat
    private let minimum: Mutex<Logger.Level>
    private let descriptor: Int32
    private let queue: Mutex<LogQueue>
    private let wake = DispatchSemaphore(value: 0)

    init(
        format: LogFormat, level: Logger.Level = .info, descriptor: Int32 = STDERR_FILENO,
        limits: LogQueue.Limits = LogQueue.Limits()
    ) {
        self.format = format
        minimum = Mutex(level)
        self.descriptor = descriptor
        queue = Mutex(LogQueue(limits: limits))
        let thread = Thread { [self] in run() }
        thread.name = "darkroom.log"
        thread.start()
    }

    /// The lowest level of events that are logged, which may change at any time.
    var level: Logger.Level {
        get { minimum.withLock(\.self) }
        set { minimum.withLock { $0 = newValue } }
    }

    /// The number of lines that were not written, because the queue was full or writing failed.
    var droppedCount: Int { queue.withLock(\.droppedCount) }

    /// Queues an entry of the access log. Never blocks.
    func append(_ entry: AccessLogEntry) { append(.request(entry, Date()), level: .info) }

    /// Queues a formatted line. Never blocks.
    func append(_ line: [UInt8], level: Logger.Level) { append(.line(line), level: level) }

    /// Blocks until everything appended before has been written, but no longer than the limit: for the end of the
    /// process. Returns whether it has been written.
    @discardableResult
    func flush(within limit: DispatchTimeInterval = .seconds(1)) -> Bool {
        let written = DispatchSemaphore(value: 0)
        append(.flush(written), level: .critical)
        return written.wait(timeout: .now() + limit) == .success
    }

    /// Writes lines to another descriptor, after everything appended before. Lines that cannot be written count as
    /// dropped, and the log reports them. Blocks as long as both descriptors do, a second at most for the log.
    func write(_ lines: [UInt8], to descriptor: Int32) {
        flush()
        let lost = lines.withUnsafeBytes { Self.write($0, to: descriptor) }
        if lost > 0 { queue.withLock { $0.recordLoss(of: lost) } }
    }

    private func append(_ record: LogQueue.Record, level: Logger.Level) {
        if queue.withLock({ $0.append(record, level: level) }) { wake.signal() }
    }

    // MARK: The thread

    /// The time in which lines gather before they are written: it bounds the wake-ups of this thread under load.
    private static let gatheringTime = DispatchTimeInterval.milliseconds(50)
    /// The size of one write, which bounds the memory of formatted lines.
    private static let maxWriteBytes = 64 << 10

    /// What the thread has not written yet.
    private struct Output {
        var formatter: LineFormatter
        /// The dropped lines that no line has reported.
        var unreportedCount = 0
    }

    private func run() {
        // A closed pipe must not end the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        var output = Output(formatter: LineFormatter(format))
        while true {
            if let batch = queue.withLock({ $0.take() }) {
                write(batch, &output)
            } else {
                wake.wait()
            }
            if queue.withLock({ $0.gather() }) { _ = wake.wait(timeout: .now() + Self.gatheringTime) }
        }
    }

    private func write(_ batch: LogQueue.Batch, _ output: inout Output) {
        output.unreportedCount += batch.droppedCount
        for record in batch.records {
            switch record {
            case .request(let entry, let time): output.formatter.append(entry, at: time)
            case .line(let line): output.formatter.append(line)
            case .flush(let written):
                writeLines(&output)
                writeReport(&output)
                written.signal()
            }
            if output.formatter.bytes.count >= Self.maxWriteBytes { writeLines(&output) }
        }
        writeLines(&output)
        writeReport(&output)
    }

    /// Writes the formatted lines, and counts lines that cannot be written.
    private func writeLines(_ output: inout Output) {
        let lost = writeBytes(of: &output.formatter)
        guard lost > 0 else { return }
        output.unreportedCount += lost
        queue.withLock { $0.droppedCount += lost }
    }

    private func writeReport(_ output: inout Output) {
        guard output.unreportedCount > 0 else { return }
        output.formatter.append(
            .error, "log lines dropped", ["count": .stringConvertible(output.unreportedCount)], at: Date())
        if writeBytes(of: &output.formatter) == 0 { output.unreportedCount = 0 }
    }

    /// Writes and removes the formatted lines. Returns the number of lines that could not be written.
    private func writeBytes(of formatter: inout LineFormatter) -> Int {
        defer { formatter.removeAll() }
        return formatter.bytes.withUnsafeBytes { Self.write($0, to: descriptor) }
    }

    /// Returns the number of lines that could not be written.
    private static func write(_ lines: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
        lines.dropFirst(ResultFile.write(lines, to: descriptor).count).count { $0 == UInt8(ascii: "\n") }
    }
}

/// Sends each event to the ``LogWriter`` as one line.
struct LineLogHandler: LogHandler {
    let writer: LogWriter
    /// The level of this handler alone; nil = the level of the writer.
    private var ownLevel: Logger.Level?
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    init(writer: LogWriter) {
        self.writer = writer
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? writer.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        writer.append(line(event), level: event.level)
    }

    /// The line of an event, formatted here because its metadata belongs to the current task.
    func line(_ event: LogEvent, at time: Date = Date()) -> [UInt8] {
        var formatter = LineFormatter(writer.format)
        formatter.append(
            event.level, "\(event.message)",
            metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }, at: time)
        return formatter.bytes
    }
}
