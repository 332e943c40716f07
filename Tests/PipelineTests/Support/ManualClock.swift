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

/// A clock whose sleeps end when a gate opens.
struct GatedClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Swift.Duration
        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let gate: Gate
    var now: Instant { Instant(offset: .zero) }
    var minimumResolution: Swift.Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        if await !gate.pass() { throw CancellationError() }
    }
}
