import DarkroomObjectStorage
import DarkroomStore
import DarkroomWaiting
import Foundation
import Logging
import NIOCore
import Synchronization

/// Carries purges between servers: appends this server's purges to the log in the shared tier, and carries out the
/// purges that other servers have appended.
///
/// Each read of the log begins a while before the end of the last read, since a purge may appear there late: clocks
/// differ, and writes take time. The progress is kept on disk, so that a server that was stopped carries out the purges
/// that it missed, and no others.
final class PurgeFollower: Sendable {
    /// Carries a purge out in memory and on disk. Its order counts from before anything is removed.
    typealias Execute = @Sendable (_ target: PurgeTarget, _ isSoft: Bool, _ order: Int64) async -> Void

    /// How far back the log is read each time. Stores accept clocks that differ by 15 minutes.
    static let overlap = Int64(20 * 60_000)
    /// How long purges of single sources are kept. A server that was stopped for longer removes all entries.
    static let retention = Int64(7 * 86_400_000)
    /// The time that is added to the time of a purge to get its order, so that the purge also outdates entries that
    /// servers with clocks ahead fetched before it. The corrected times of two servers may differ by as much
    /// (`StoreClock`).
    static let clockTolerance = Int64(15_000)
    /// With more purges to carry out at once, everything is removed instead.
    private static let maxPurges = 10_000
    /// The number of attempts at reading a purge. A purge that cannot be read then counts as a purge of everything.
    private static let maxReads = 10

    private struct State {
        /// The purges that this process knows, as far as the log is read again.
        var seen: Set<PurgeLog.Name> = []
        /// The time until which the log was read; nil = never.
        var position: Int64?
        /// Nil if purges were carried out since the progress was saved.
        var savedPosition: Int64?
        var cleanedAt: Int64 = 0
        /// The moment of which this process knows all purges, or after which the origin has confirmed all records that
        /// it uses.
        var assuredAt: ContinuousClock.Instant?
        /// When a read of the log last failed or was slow; nil once that is a while ago.
        var lateAt: ContinuousClock.Instant?
    }

    let shared: SharedTier
    private let log: PurgeLog
    private let disk: (any Storing)?
    private let unconfirmedRecords: UnconfirmedRecords
    private let interval: Duration
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let state = Mutex(State())
    private let polls = SingleFlight<Bool, Bool, Void>()
    /// The deletion of purged objects and of old purges.
    let sweeps = OwnedTasks<Never>()
    /// Limits how long requests wait for a read of the log.
    private let requests: DeadlineTimer

    init(
        _ shared: SharedTier, disk: (any Storing)?, unconfirmedRecords: UnconfirmedRecords, clock: any Clock<Duration>,
        logger: Logger
    ) {
        requests = DeadlineTimer(Self.requestWait, clock: clock)
        self.clock = clock
        self.shared = shared
        self.disk = disk
        self.unconfirmedRecords = unconfirmedRecords
        interval = shared.store.configuration.purgeInterval
        instant = shared.store.instant
        self.logger = logger
        log = PurgeLog(shared.store)
    }

    /// The time after which no server uses what a purge concerns, unless its origin has confirmed it since.
    ///
    /// Holds however slow the store is. A read of the log begins in each interval. If it takes longer than
    /// ``slowRead``, or fails, then all records from before that moment are suspect, again in each interval until it
    /// ends. A server therefore never relies on anything that is older than an interval and ``slowRead``.
    var propagation: Duration { interval + .seconds(1) }

    /// Whether this process was suspended, so that it may lack purges that are older than the propagation allows.
    var isBehind: Bool {
        guard let assuredAt = state.withLock({ $0.assuredAt }) else { return false }
        return assuredAt.duration(to: instant()) > propagation
    }

    private static let appendLimit = Duration.seconds(5)
    /// The longest wait of a request for a read of the log.
    private static let requestWait = Duration.milliseconds(900)
    /// The time after which a read of the log counts as slow. Together with the interval, it is less than
    /// ``propagation``.
    static let slowRead = Duration.milliseconds(500)
    /// The time for one request to the store. A read of the log has no limit as a whole: on a slow store it would start
    /// over each time and never end.
    private static let requestLimit = Duration.seconds(30)
    /// How long reads of the log must be prompt before the log says so.
    private static let lateness = Duration.seconds(60)

    // MARK: This server's purges

    /// Announces a purge to the other servers, and removes its sources from the shared tier.
    ///
    /// - Parameters:
    ///   - order: see ``order``.
    ///   - sources: the sources that the purge is known to concern.
    /// - Returns: whether the other servers will carry it out.
    func announce(_ target: PurgeTarget, isSoft: Bool, order: Int64, sources: [StoreKey]) async -> Bool {
        let isOne = if case .source = target { true } else { false }
        let name = PurgeLog.Name(time: order - Self.clockTolerance, isLasting: !isOne)
        do throws(ObjectStorageError) {
            // Marks the source in the store first: a server that carries out the purge must not find the source there
            // again.
            for source in isOne ? sources : [] {
                if isSoft {
                    try await shared.markStale(source, order: order)
                } else {
                    try await shared.store.remove([source], order: order)
                }
            }
            try await log.append(PurgeMessage(target, isSoft: isSoft).bytes, as: name, within: Self.appendLimit)
        } catch {
            logger.error("a purge did not reach the other servers", metadata: ["reason": "\(error)"])
            return false
        }
        record(name)
        save()
        guard !isOne, !isSoft else { return true }
        for source in sources { shared.store.removeSoon(source, order: order) }
        sweeps.run { [shared, logger] in await shared.sweep(target, upTo: order, logger) }
        return true
    }

    /// The order of a purge that begins now.
    var order: Int64 { shared.store.milliseconds + Self.clockTolerance }

    // MARK: Other servers' purges

    /// Ends the deletion of purged objects, which are not used in any case.
    func shutdown() { sweeps.shutdown() }

    /// Reads the log and carries out the new purges. Several callers share one read.
    ///
    /// - Parameter limit: how long the caller waits; nil = until the read has ended.
    /// - Returns: whether the log could be read.
    func poll(within limit: Duration? = nil, _ execute: @escaping Execute) async -> Bool {
        let deadline = Deadline()
        let number = limit.map { requests.begin(after: $0) { deadline.pass() } }
        defer { if let number { requests.end(number) } }
        return await polls.value(for: true, deadline: deadline) { [self] in await pollOnce(execute) } ?? false
    }

    /// Reads the log before a request is answered. The request waits no longer than reading takes: if the new purges
    /// take longer to carry out, each source is revalidated with its origin until they are.
    func catchUp(_ execute: @escaping Execute) async {
        let deadline = Deadline()
        let number = requests.begin { deadline.pass() }
        defer { requests.end(number) }
        let isDone = await polls.value(for: true, deadline: deadline) { [self] in await pollOnce(execute) }
        if isDone == nil, deadline.hasPassed { suspectRecords() }
    }

    private func pollOnce(_ execute: @escaping Execute) async -> Bool {
        // Ends with this function.
        async let _: Void = suspectRecordsWhileReading()
        let began = instant()
        let position: Int64
        do throws(ObjectStorageError) {
            position = try await read(execute)
        } catch {
            // A read that nobody waits for any more says nothing about the store.
            guard !Task.isCancelled else { return false }
            suspectRecords()
            recordLateRead("\(error)")
            return false
        }
        finishRead(began: began)
        let isSaveDue = state.withLock { state in
            state.position = position
            // Later reads of the log begin at the last of these moments.
            state.seen = state.seen.filter { $0.time >= position - Self.overlap }
            return state.savedPosition.map { abs(position - $0) >= 60_000 } ?? true
        }
        if isSaveDue { save() }
        cleanIfDue(now: position)
        return true
    }

    /// Records that all purges from before a read have been carried out.
    private func finishRead(began: ContinuousClock.Instant) {
        shared.store.recordPurgesRead(until: began)
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

    /// From here on, a record that was stored before is used only once its origin has confirmed it.
    private func suspectRecords() {
        state.withLock { state in
            unconfirmedRecords.begin(at: shared.store.now())
            state.assuredAt = instant()
        }
    }

    /// Runs until it is canceled.
    private func suspectRecordsWhileReading() async {
        var pause = Self.slowRead
        while (try? await clock.sleep(for: pause)) != nil, !Task.isCancelled {
            suspectRecords()
            // At the start, the purges of a longer time are read.
            if state.withLock({ $0.position != nil }) { recordLateRead("Reading the purge log takes long.") }
            pause = interval
        }
    }

    private func recordLateRead(_ reason: String) {
        let isFirst = state.withLock { state in
            defer { state.lateAt = instant() }
            return state.lateAt == nil
        }
        guard isFirst else { return }
        logger.warning(
            "purges of other servers arrive late: until then, cached images are used only as their origins confirm them",
            metadata: ["reason": "\(reason)"])
    }

    /// - Returns: the time until which the log was read.
    private func read(_ execute: @escaping Execute) async throws(ObjectStorageError) -> Int64 {
        let started = shared.store.milliseconds
        let position = state.withLock(\.position)
        let saved = position == nil ? await disk?.peek(PurgeProgress.key).flatMap { PurgeProgress($0.metadata) } : nil
        let listed = try await log.names(since: position.map { $0 - Self.overlap }, within: Self.requestLimit)
        // The first answer may have corrected a clock that was ahead.
        let now = min(started, shared.store.milliseconds)
        var progress = PurgeProgress(position: position ?? (disk == nil ? now : 0), done: [])
        if let saved { progress = await resume(saved, now: now, execute) }
        let seen = state.withLock(\.seen)
        // Purges of single sources need not be known once they are carried out: the store has marks of them.
        let new = listed.filter { !seen.contains($0) && ($0.isLasting || progress.lacks($0)) }
        guard new.count <= Self.maxPurges else {
            await execute(.everything, false, now + Self.clockTolerance)
            for name in listed { record(name) }
            return now
        }
        try await carryOut(new, after: progress, execute)
        return now
    }

    /// Continues where an earlier process ended.
    private func resume(_ saved: PurgeProgress, now: Int64, _ execute: @escaping Execute) async -> PurgeProgress {
        // A position that is not in the past is damaged, or from a clock that was ahead.
        let isPast = (0...max(now, 0) + Self.overlap).contains(saved.position)
        if isPast, now - saved.position <= Self.retention - Self.overlap { return saved }
        await execute(.everything, false, -1)
        return PurgeProgress(position: now, done: [])
    }

    /// - Throws: the error of reading a purge. All other purges have been carried out then.
    private func carryOut(
        _ names: [PurgeLog.Name], after progress: PurgeProgress, _ execute: @escaping Execute
    ) async throws(ObjectStorageError) {
        var failure: ObjectStorageError?
        for batch in stride(from: 0, to: names.count, by: Self.concurrency) {
            let names = names[batch..<min(batch + Self.concurrency, names.count)]
            let messages = await withTaskGroup(of: (PurgeLog.Name, ReadResult).self) { group in
                for name in names { group.addTask { (name, await self.read(name)) } }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for name in names.sorted() {
                do throws(ObjectStorageError) {
                    if let message = try messages[name]?.get() {
                        await carryOut(name, PurgeMessage(message), progress.lacks(name) ? execute : nil)
                    } else if try await log.names(since: name.time, within: Self.requestLimit).contains(name) {
                        // A missing purge was old. A purge that exists but cannot be read is corrupt, and its targets
                        // are unknown.
                        logger.warning("a purge in the shared store is damaged: removing everything")
                        await carryOut(name, nil, progress.lacks(name) ? execute : nil)
                    }
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
    }

    private typealias ReadResult = Result<ByteBuffer?, ObjectStorageError>

    private func read(_ name: PurgeLog.Name) async -> ReadResult {
        let end = instant() + Self.requestLimit
        var result = ReadResult.success(nil)
        for _ in 0..<Self.maxReads {
            result = await Result { [log] () async throws(ObjectStorageError) in
                try await log.purge(name, within: instant().duration(to: end))
            }
            if case .success(.some) = result { break }
        }
        return result
    }

    private static let concurrency = 16

    /// - Parameter execute: nil for a lasting purge that was carried out before: it still concerns objects that servers
    ///   store without knowing it.
    private func carryOut(_ name: PurgeLog.Name, _ message: PurgeMessage?, _ execute: Execute?) async {
        let (target, order) = (message?.target, name.time + Self.clockTolerance)
        let isSoft = target != nil && message?.isSoft == true
        if let execute {
            await execute(target ?? .everything, isSoft, order)
        } else {
            shared.purgedOrders.add(target ?? .everything, source: nil, order: order, isSoft: isSoft)
        }
        record(name)
    }

    /// Records that a purge was carried out.
    private func record(_ name: PurgeLog.Name) {
        state.withLock { state in
            state.seen.insert(name)
            state.savedPosition = nil
        }
    }

    /// Saves the progress, behind the removals that were handed to the disk before.
    func save() {
        let progress = state.withLock { state -> PurgeProgress? in
            state.savedPosition = state.position
            return state.position.map { position in
                PurgeProgress(position: position, done: state.seen.filter { $0.time >= position - Self.overlap })
            }
        }
        guard let disk, let progress else { return }
        let isAccepted = disk.store(
            StoredEntry(body: ByteBuffer(), metadata: progress.bytes), for: PurgeProgress.key)
        if !isAccepted { state.withLock { $0.savedPosition = nil } }
    }

    /// Deletes purges that no server needs any more, once an hour, in the background.
    private func cleanIfDue(now: Int64) {
        shared.purgedOrders.removeSources(upTo: now - Self.overlap)
        let isDue = state.withLock { state in
            guard now - state.cleanedAt >= 3_600_000 else { return false }
            defer { state.cleanedAt = now }
            return state.cleanedAt > 0
        }
        guard isDue else { return }
        sweeps.run { [self] in
            do throws(ObjectStorageError) {
                try await clean(now: now)
            } catch {
                logger.debug("old purges stay in the log", metadata: ["reason": "\(error)"])
            }
        }
    }

    private func clean(now: Int64) async throws(ObjectStorageError) {
        let kept = max(Int64(shared.store.configuration.maxAge / .milliseconds(1)), Self.retention) + Self.overlap
        let all = try await log.names(since: nil, within: Self.requestLimit)
        try await log.delete(
            all.filter { now - $0.time > ($0.isLasting ? kept : Self.retention) }, within: Self.requestLimit)
    }
}

extension PurgeProgress {
    /// Whether a purge has not been carried out.
    fileprivate func lacks(_ name: PurgeLog.Name) -> Bool {
        name.time >= position - PurgeFollower.overlap && !done.contains(name)
    }
}
