import DarkroomStore
import Logging
import Synchronization

/// Keeps the promise that some time after a purge no server uses what it concerns, unless the origin has confirmed it
/// since, however slow the store is and whether or not this server reaches it.
///
/// A read of the purge log begins in each interval. If it takes longer than ``slowRead`` or fails, all records from
/// before that moment are suspect, again in each interval until a read has ended in time. This server therefore never
/// relies on knowledge that is older than an interval and ``slowRead``.
final class PurgeAssurance: Sendable {
    private struct State {
        /// The moment of which this process knows all purges, or after which the origin has confirmed all records that
        /// it uses.
        var assuredAt: ContinuousClock.Instant?
        /// When a read of the log last failed or was slow; nil once that is a while ago.
        var lateAt: ContinuousClock.Instant?
    }

    /// The time after which a read of the log counts as slow.
    static let slowRead = Duration.milliseconds(500)
    /// How long reads must be prompt before the log says so.
    private static let lateness = Duration.seconds(60)

    private let store: SharedStore
    private let unconfirmedRecords: UnconfirmedRecords
    private let interval: Duration
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter clock: the clock of the intervals.
    init(_ store: SharedStore, _ unconfirmedRecords: UnconfirmedRecords, clock: any Clock<Duration>, logger: Logger) {
        self.store = store
        self.unconfirmedRecords = unconfirmedRecords
        interval = store.configuration.purgeInterval
        instant = store.instant
        self.clock = clock
        self.logger = logger
    }

    /// An interval and ``slowRead``, with as much again for delays of this process.
    var propagation: Duration { interval + Self.slowRead * 2 }

    /// Whether this process was suspended, so that it may lack purges that are older than the propagation allows.
    var isBehind: Bool {
        guard let assuredAt = state.withLock({ $0.assuredAt }) else { return false }
        return assuredAt.duration(to: instant()) > propagation
    }

    /// From here on, a record that was stored before is used only once its origin has confirmed it.
    func suspectRecords() {
        state.withLock { state in
            unconfirmedRecords.begin(at: store.now())
            state.assuredAt = instant()
        }
    }

    /// Suspects records while a read takes long. Runs until it is canceled.
    ///
    /// - Parameter isExpected: whether the read is expected to take long.
    func watch(isExpected: Bool) async {
        var pause = Self.slowRead
        while (try? await clock.sleep(for: pause)) != nil, !Task.isCancelled {
            suspectRecords()
            if !isExpected { recordLateRead("Reading the purge log takes long.") }
            pause = interval
        }
    }

    /// Records that all purges from before a read have been carried out.
    func finishRead(began: ContinuousClock.Instant) {
        store.recordPurgesRead(until: began)
        let duration = began.duration(to: instant())
        let isPrompt = state.withLock { state in
            unconfirmedRecords.clearDisk()
            // After a longer read, purges of too long a time are unknown.
            if duration <= max(interval, Self.slowRead) {
                unconfirmedRecords.clear()
                state.assuredAt = began
            }
            guard duration <= Self.slowRead, let lateAt = state.lateAt else { return false }
            guard lateAt.duration(to: instant()) >= Self.lateness else { return false }
            state.lateAt = nil
            return true
        }
        if isPrompt { logger.notice("purges of other servers arrive in time again") }
    }

    /// Logs the first of several late reads.
    func recordLateRead(_ reason: String) {
        let isFirst = state.withLock { state in
            defer { state.lateAt = instant() }
            return state.lateAt == nil
        }
        guard isFirst else { return }
        logger.warning(
            "purges of other servers arrive late: until then, origins confirm cached images before they are used",
            metadata: ["reason": "\(reason)"])
    }
}
