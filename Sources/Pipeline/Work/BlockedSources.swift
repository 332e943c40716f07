import Foundation
import Store
import Synchronization

/// Failed sources that the delegate wants left alone for a while (SDWebImage's failed URLs, but bounded and with an end).
final class BlockedSources: Sendable {
    /// How long a failure is remembered.
    static let lifetimeSeconds: TimeInterval = 60
    /// How many are remembered at most; when full, none is added until some have run out.
    static let capacity = 10_000

    private let table = Mutex<[StoreKey: (error: PipelineError, until: Date)]>([:])

    func failure(of source: StoreKey, now: Date) -> PipelineError? {
        table.withLock { table in
            guard let entry = table[source] else { return nil }
            if entry.until > now { return entry.error }
            table[source] = nil
            return nil
        }
    }

    func block(_ source: StoreKey, after error: PipelineError, now: Date) {
        table.withLock { table in
            if table.count >= Self.capacity { table = table.filter { $0.value.until > now } }
            guard table.count < Self.capacity else { return }
            table[source] = (error, now.addingTimeInterval(Self.lifetimeSeconds))
        }
    }
}
