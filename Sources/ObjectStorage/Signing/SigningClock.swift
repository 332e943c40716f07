import Foundation
import Synchronization

/// The time to sign requests with: the system's, corrected by what the store reported when it refused a request as too
/// skewed. Stores accept 15 minutes of difference.
final class SigningClock: Sendable {
    /// The smallest difference that explains a refusal whose code is unknown, as it is for HEAD.
    static let suspiciousSkew: TimeInterval = 5 * 60

    private let system: @Sendable () -> Date
    /// Seconds to add to the system's time.
    private let offset = Mutex<TimeInterval>(0)

    init(_ system: @escaping @Sendable () -> Date) {
        self.system = system
    }

    var now: Date { system().addingTimeInterval(correction) }

    var correction: TimeInterval { offset.withLock { $0 } }

    /// Adopts the store's time.
    func correct(to storeDate: Date) {
        let difference = storeDate.timeIntervalSince(system())
        offset.withLock { $0 = difference }
    }
}
