import Foundation
import Synchronization

/// A wall clock that stands still until the test moves it.
final class WallClock: Sendable {
    static let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let date = Mutex(start)

    var now: Date { date.withLock { $0 } }

    func advance(seconds: TimeInterval) {
        date.withLock { $0 += seconds }
    }
}
