import DarkroomHTTPCaching
import Foundation
import Synchronization

/// Which sources other servers may have purged without this one knowing, because it could not read their purges.
///
/// The origin is asked once about each before it is used: it may be used again from then on, since a store that cannot
/// be read takes no purges either.
final class PurgeSuspicion: Sendable {
    /// Records that the origin confirmed up to then, in milliseconds since 1970; the least number = none.
    private let end: Atomic<Int64>
    private let includesDisk: Atomic<Bool>
    private static let none = Int64.min

    /// - Parameter includesDisk: whether all that is on disk is suspect until ``clear()`` is called.
    init(includesDisk: Bool) {
        end = Atomic(Self.none)
        self.includesDisk = Atomic(includesDisk)
    }

    /// All that was confirmed until this moment of the wall clock is suspect.
    func begin(at now: Date) {
        end.store(Int64((now.timeIntervalSince1970 * 1000).rounded(.up)), ordering: .releasing)
    }

    /// The purges of other servers have been carried out.
    func clear() {
        end.store(Self.none, ordering: .releasing)
        includesDisk.store(false, ordering: .releasing)
    }

    /// - Parameter isOnDisk: whether the record was read from disk.
    func concerns(_ record: SourceRecord, isOnDisk: Bool) -> Bool {
        if isOnDisk, includesDisk.load(ordering: .acquiring) { return true }
        let end = end.load(ordering: .acquiring)
        return end != Self.none && record.response.requestedAt.timeIntervalSince1970 * 1000 <= Double(end)
    }
}
