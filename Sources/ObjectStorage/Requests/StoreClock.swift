import Foundation
import Synchronization

/// The store's time: the system's time, corrected by the `Date` of the store's answers. Requests are signed with it,
/// and servers that share a store order their writes by it.
///
/// An answer of 10:00:00 was made within one second from then on, and between the request and its arrival here. This
/// bounds the correction on both sides. A correction outside is moved to the nearer bound, so that no answer increases
/// its error, however long the answer takes. The error is thus at most a second, the shortest exchange since the
/// system's clock was last set, and ``leastError``.
final class StoreClock: Sendable {
    /// The smallest difference that explains a refusal without a known code, as for HEAD. Stores accept 15 minutes.
    static let suspiciousSkew: TimeInterval = 5 * 60
    /// Errors up to this are left: servers whose clocks are right keep their own time, and the time does not move with
    /// each answer.
    static let leastError: TimeInterval = 0.5
    /// Larger differences are the store's error, if it accepted the request nevertheless.
    static let greatestSkew: TimeInterval = 86_400
    /// `Date` has whole seconds.
    private static let resolution: TimeInterval = 1

    private let system: @Sendable () -> Date
    /// Seconds to add to the system's time.
    private let offset = Mutex<TimeInterval>(0)

    init(_ system: @escaping @Sendable () -> Date) {
        self.system = system
    }

    /// The greatest error of the time after an answer that took this long.
    static func greatestError(afterExchangeOf seconds: TimeInterval) -> TimeInterval {
        resolution + seconds + leastError
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
        let least = storeDate.timeIntervalSince(receivedAt)
        let greatest = storeDate.timeIntervalSince(sentAt) + Self.resolution
        // The system's clock may have been set back meanwhile.
        guard receivedAt >= sentAt, abs(least) <= Self.greatestSkew else { return }
        offset.withLock { offset in
            let nearest = min(max(offset, least), greatest)
            if abs(nearest - offset) > Self.leastError { offset = nearest }
        }
    }
}
