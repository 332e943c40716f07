import DarkroomHTTPCaching
import Foundation
import Synchronization

/// The sources that other servers may have purged while this server could not read their purges, or not yet.
///
/// Each of these sources is revalidated with its origin before it is used. From then on it may be used again until the
/// next ``begin(at:)``: another server may still reach the store and purge the source again.
final class UnconfirmedRecords: Sendable {
    /// Records that the origin confirmed up to this time are suspect, in milliseconds since 1970; the least number = no
    /// records.
    private let end: Atomic<Int64>
    private let includesDisk: Atomic<Bool>
    /// Records that were confirmed up to this time stay suspect; see ``distrust(until:)``.
    private let distrusted: Atomic<Int64>
    /// The number of purges of this server that are under way and take long.
    private let purges = Mutex(0)
    private static let none = Int64.min

    /// - Parameter includesDisk: whether all entries on disk are suspect until ``clearDisk()`` is called.
    init(includesDisk: Bool) {
        end = Atomic(Self.none)
        distrusted = Atomic(Self.none)
        self.includesDisk = Atomic(includesDisk)
    }

    /// Marks all records suspect that were confirmed until this moment of the wall clock.
    func begin(at now: Date) {
        purges.withLock { _ in end.store(max(Self.milliseconds(now), distrustedUntil), ordering: .releasing) }
    }

    /// Marks all records suspect until the purge has ended.
    func beginPurge(at now: Date) {
        purges.withLock { $0 += 1 }
        begin(at: now)
    }

    /// - Parameter clears: whether no other servers have purges.
    func endPurge(clears: Bool) {
        purges.withLock { $0 -= 1 }
        if clears { clear() }
    }

    /// Marks all records suspect that were confirmed until this moment, for good: the purges that concern them are
    /// unknown.
    func distrust(at now: Date) { distrust(until: Self.milliseconds(now), notAfter: now) }

    /// Continues what an earlier process distrusted.
    ///
    /// - Parameter time: its ``distrustedUntil``, which may be damaged.
    func distrust(until time: Int64, notAfter now: Date) {
        let time = min(time, Self.milliseconds(now))
        distrusted.max(time, ordering: .acquiringAndReleasing)
        end.max(time, ordering: .acquiringAndReleasing)
    }

    /// The latest moment of ``distrust(at:)``; the least number = none.
    var distrustedUntil: Int64 { distrusted.load(ordering: .acquiring) }

    private static func milliseconds(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1000).rounded(.up))
    }

    /// The purges of the time in which this server was stopped have been carried out.
    func clearDisk() { includesDisk.store(false, ordering: .releasing) }

    /// The purges of other servers have been carried out, except for purges of the last seconds.
    func clear() {
        purges.withLock { if $0 == 0 { end.store(distrustedUntil, ordering: .releasing) } }
    }

    /// - Parameter isOnDisk: whether the record was read from disk.
    func concerns(_ record: SourceRecord, isOnDisk: Bool) -> Bool {
        if isOnDisk, includesDisk.load(ordering: .acquiring) { return true }
        let end = end.load(ordering: .acquiring)
        return end != Self.none && record.response.requestedAt.timeIntervalSince1970 * 1000 <= Double(end)
    }
}
