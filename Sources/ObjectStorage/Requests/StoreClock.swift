import Foundation
import Synchronization

/// The store's time: the system's time, corrected by the `Date` of the store's answers. Requests are signed with it,
/// and servers that share a store order their writes by it.
final class StoreClock: Sendable {
    /// The smallest difference that explains a refusal without a known code, as for HEAD. Stores accept 15 minutes.
    static let suspiciousSkew: TimeInterval = 5 * 60
    /// Smaller differences are left: dates are whole seconds, and answers take time. So the times of two servers differ
    /// by at most twice as much, the longest exchange and a second.
    static let leastSkew: TimeInterval = 6
    /// The date of an answer that took longer says nothing; the machine may have been suspended meanwhile.
    static let longestExchange: TimeInterval = 2
    /// Larger differences are the store's error, if it accepted the request nevertheless.
    static let greatestSkew: TimeInterval = 86_400

    private let system: @Sendable () -> Date
    /// Seconds to add to the system's time.
    private let offset = Mutex<TimeInterval>(0)

    init(_ system: @escaping @Sendable () -> Date) {
        self.system = system
    }

    /// The system's time without the correction.
    var uncorrected: Date { system() }

    var now: Date { system().addingTimeInterval(correction) }

    var correction: TimeInterval { offset.withLock { $0 } }

    /// Adopts the store's time.
    func correct(to storeDate: Date) {
        let difference = storeDate.timeIntervalSince(system())
        offset.withLock { $0 = difference }
    }

    /// Follows the date of an answer that accepted a request.
    ///
    /// - Parameter sentAt: when the request was sent, by the system's time.
    func follow(_ storeDate: Date, sentAt: Date) {
        let receivedAt = system()
        let exchange = receivedAt.timeIntervalSince(sentAt)
        let difference = storeDate.timeIntervalSince(receivedAt)
        guard (0...Self.longestExchange).contains(exchange), abs(difference) <= Self.greatestSkew else { return }
        offset.withLock { offset in
            // A difference close to the threshold must not make the time jump back and forth.
            if abs(difference) <= (offset == 0 ? Self.leastSkew : Self.leastSkew / 2) {
                offset = 0
            } else if abs(difference - offset) > Self.leastSkew {
                offset = difference
            }
        }
    }
}
