import DarkroomHTTPServer
import Dispatch
import Foundation
import Logging

/// The lines that wait for the ``LogWriter``, bounded in number and bytes. A line beyond the bounds is dropped and
/// counted.
struct LogQueue {
    /// The bounds of what waits. Of each, an eighth is reserved for lines of level `error` and above.
    struct Limits {
        var lines = 16_384
        var bytes = 8 << 20
    }

    enum Record {
        /// An entry of the access log and its time; formatted by the writer.
        case request(AccessLogEntry, Date)
        case line([UInt8])
        /// Signaled once everything before it has been written.
        case flush(DispatchSemaphore)
    }

    /// What the writer does.
    private enum Writer {
        case busy
        /// It found nothing, and waits for the first line.
        case idle
        /// It waits a short time for more lines.
        case gathering
    }

    /// What the writer takes at once.
    struct Batch {
        var records: [Record] = []
        /// The lines dropped since the last batch.
        var droppedCount = 0
    }

    /// The total number of lines that were dropped, or that the writer failed to write.
    var droppedCount = 0
    private let limits: Limits
    private var batch = Batch()
    private var bytes = 0
    private var writer = Writer.busy
    /// Whether the writer must not wait for more lines.
    private var isUrgent = false

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Appends a record, or drops it. Returns whether the writer waits and must be woken.
    mutating func append(_ record: Record, level: Logger.Level) -> Bool {
        let size = record.size
        let share = level >= .error ? 8 : 7
        if size > 0, batch.records.count >= limits.lines / 8 * share || bytes + size > limits.bytes / 8 * share {
            recordLoss(of: 1)
            return false
        }
        batch.records.append(record)
        bytes += size
        if level >= .warning || batch.records.count >= limits.lines / 2 || bytes >= limits.bytes / 2 { isUrgent = true }
        guard writer == .idle || writer == .gathering && isUrgent else { return false }
        writer = .busy
        return true
    }

    /// Counts lines as dropped, which the next batch reports.
    mutating func recordLoss(of count: Int) {
        droppedCount += count
        batch.droppedCount += count
    }

    /// Begins the time in which lines are collected; false if the writer must not wait for any.
    mutating func gather() -> Bool {
        if !isUrgent { writer = .gathering }
        return !isUrgent
    }

    /// Takes all waiting lines; nil if there are none, in which case the writer must wait for the first line.
    mutating func take() -> Batch? {
        writer = batch.records.isEmpty ? .idle : .busy
        isUrgent = false
        guard writer == .busy else { return nil }
        let taken = batch
        batch = Batch()
        batch.records.reserveCapacity(min(taken.records.count, 256))
        bytes = 0
        return taken
    }
}

extension LogQueue.Record {
    /// An estimate of the memory in bytes; 0 = not a line.
    fileprivate var size: Int {
        switch self {
        case .request(let entry, _):
            MemoryLayout<Self>.stride + entry.method.utf8.count + entry.path.utf8.count + entry.requestID.utf8.count
                + (entry.traceID?.utf8.count ?? 0) + (entry.cacheStatus?.utf8.count ?? 0)
                + entry.details.byteCount
        case .line(let bytes): MemoryLayout<Self>.stride + bytes.count
        case .flush: 0
        }
    }
}
