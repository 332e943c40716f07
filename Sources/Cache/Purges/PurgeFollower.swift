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
/// differ, and writes take time. The position is kept on disk, so that a server that was stopped carries out the purges
/// that it missed.
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

    /// The entry on disk that holds the position. No source has its key.
    static let positionKey: EntryKey = {
        let key = StoreKey(hashing: "position in the purge log".utf8)
        return EntryKey(source: key, entry: key)
    }()

    private struct State {
        /// The purges that were carried out, as far as the log is read again.
        var seen: Set<PurgeLog.Name> = []
        /// The time until which the log was read; nil = never.
        var position: Int64?
        var savedPosition: Int64 = 0
        var cleanedAt: Int64 = 0
        /// When this process last tried to read the log.
        var triedAt: ContinuousClock.Instant?
        /// Whether the last try failed.
        var isCutOff = false
    }

    let shared: SharedTier
    private let log: PurgeLog
    private let disk: (any Storing)?
    private let unconfirmedRecords: UnconfirmedRecords
    private let interval: Duration
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger
    private let state = Mutex(State())
    private let polls = SingleFlight<Bool, Bool, Void>()
    private let sweeps = OwnedTasks<Never>()
    /// Limits how long requests wait for a read of the log.
    private let requests: DeadlineTimer

    init(
        _ shared: SharedTier, disk: (any Storing)?, unconfirmedRecords: UnconfirmedRecords, clock: any Clock<Duration>,
        logger: Logger
    ) {
        requests = DeadlineTimer(Self.pollLimit, clock: clock)
        self.shared = shared
        self.disk = disk
        self.unconfirmedRecords = unconfirmedRecords
        interval = shared.store.configuration.purgeInterval
        instant = shared.store.instant
        self.logger = logger
        log = PurgeLog(shared.store)
    }

    /// The time after which every server that reads the log has carried out a purge.
    var propagation: Duration { interval + .seconds(1) }

    /// Whether this process was suspended: its last attempt at reading the log is longer ago than the interval and the
    /// time of a read allow.
    var isBehind: Bool {
        guard let triedAt = state.withLock({ $0.triedAt }) else { return false }
        return triedAt.duration(to: instant()) > interval + Self.pollLimit + .seconds(1)
    }

    private static let appendLimit = Duration.seconds(5)
    /// The time limit of one read of the log and of the new purges. It is less than the time that ``propagation`` adds,
    /// so that by then a server has noticed that it may lack purges.
    private static let pollLimit = Duration.milliseconds(900)
    private static let firstPollLimit = Duration.seconds(30)

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
        state.withLock { _ = $0.seen.insert(name) }
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
    /// - Returns: whether the log could be read.
    func poll(_ execute: @escaping Execute) async -> Bool {
        await polls.value(for: true) { [self] in await pollOnce(execute) } ?? false
    }

    /// Reads the log before a request is answered. The request waits no longer than reading takes: if the new purges
    /// take longer to carry out, each source is revalidated with its origin until they are.
    func catchUp(_ execute: @escaping Execute) async {
        let deadline = Deadline()
        let number = requests.begin { deadline.pass() }
        defer { requests.end(number) }
        let isDone = await polls.value(for: true, deadline: deadline) { [self] in await pollOnce(execute) }
        guard isDone == nil, deadline.hasPassed else { return }
        state.withLock { $0.triedAt = instant() }
        unconfirmedRecords.begin(at: shared.store.now())
    }

    private func pollOnce(_ execute: Execute) async -> Bool {
        let began = instant()
        let position: Int64
        do throws(ObjectStorageError) {
            position = try await read(execute)
        } catch {
            let wasCutOff = state.withLock { state in
                state.triedAt = instant()
                // A read that nobody waits for any more says nothing about the store.
                defer { state.isCutOff = state.isCutOff || !Task.isCancelled }
                return state.isCutOff
            }
            if !wasCutOff { unconfirmedRecords.begin(at: shared.store.now()) }
            logger.debug("the purge log cannot be read", metadata: ["reason": "\(error)"])
            return false
        }
        let isSaveDue = state.withLock { state in
            // Purges that were announced meanwhile have not been read.
            state.triedAt = began
            state.isCutOff = false
            state.position = position
            // Once a minute: reading purges again does no harm.
            guard abs(position - state.savedPosition) >= 60_000 else { return false }
            state.savedPosition = position
            return true
        }
        unconfirmedRecords.clear()
        if isSaveDue {
            disk?.store(StoredEntry(body: ByteBuffer(), metadata: ByteBuffer(integer: position)), for: Self.positionKey)
        }
        return true
    }

    /// - Returns: the time until which the log was read.
    private func read(_ execute: Execute) async throws(ObjectStorageError) -> Int64 {
        let started = shared.store.milliseconds
        let position = state.withLock(\.position)
        let isFirst = position == nil
        let end = instant() + (isFirst ? Self.firstPollLimit : Self.pollLimit)
        var onDisk = isFirst ? await disk?.peek(Self.positionKey)?.metadata : nil
        let listed = try await log.names(since: position.map { $0 - Self.overlap }, within: instant().duration(to: end))
        // The first answer may have corrected a clock that was ahead.
        let now = min(started, shared.store.milliseconds)
        // A position that is not in the past is damaged, or from a clock that was ahead.
        let past = 0...max(now, 0) + Self.overlap
        let saved = position ?? onDisk?.readInteger(as: Int64.self).map { past.contains($0) ? $0 : 0 }
        if let saved, isFirst, now - saved > Self.retention - Self.overlap {
            await execute(.everything, false, -1)
        }
        let seen = state.withLock(\.seen)
        // Purges of single sources that were carried out before, or that concern no entry of this server.
        let oldest = saved.map { $0 - Self.overlap } ?? (disk == nil ? now - Self.overlap : 0)
        let new = listed.filter { !seen.contains($0) && ($0.isLasting || $0.time >= oldest) }
        guard new.count <= Self.maxPurges else {
            await execute(.everything, false, now + Self.clockTolerance)
            state.withLock { $0.seen = Set(listed) }
            return now
        }
        try await carryOut(new, until: end, execute)
        state.withLock { $0.seen.formIntersection(listed) }
        try await clean(listed, now: now)
        return now
    }

    /// - Throws: the error of reading a purge. All other purges have been carried out then.
    private func carryOut(
        _ names: [PurgeLog.Name], until end: ContinuousClock.Instant, _ execute: Execute
    ) async throws(ObjectStorageError) {
        var failure: ObjectStorageError?
        for batch in stride(from: 0, to: names.count, by: Self.concurrency) {
            let names = names[batch..<min(batch + Self.concurrency, names.count)]
            let messages = await withTaskGroup(of: (PurgeLog.Name, ReadResult).self) { group in
                for name in names { group.addTask { (name, await self.read(name, until: end)) } }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for name in names.sorted() {
                do throws(ObjectStorageError) {
                    if let message = try messages[name]?.get() {
                        await carryOut(name, PurgeMessage(message), execute)
                    } else if try await log.names(since: name.time, within: instant().duration(to: end)).contains(name)
                    {
                        // A missing purge was old. A purge that exists but cannot be read is corrupt, and its targets
                        // are unknown.
                        logger.warning("a purge in the shared store is damaged: removing everything")
                        await carryOut(name, nil, execute)
                    }
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
    }

    private typealias ReadResult = Result<ByteBuffer?, ObjectStorageError>

    private func read(_ name: PurgeLog.Name, until end: ContinuousClock.Instant) async -> ReadResult {
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

    private func carryOut(_ name: PurgeLog.Name, _ message: PurgeMessage?, _ execute: Execute) async {
        let target = message?.target
        await execute(target ?? .everything, target != nil && message?.isSoft == true, name.time + Self.clockTolerance)
        state.withLock { _ = $0.seen.insert(name) }
    }

    /// Deletes purges that no server needs any more, once an hour.
    private func clean(_ names: [PurgeLog.Name], now: Int64) async throws(ObjectStorageError) {
        let isDue = state.withLock { state in
            guard now - state.cleanedAt >= 3_600_000 else { return false }
            defer { state.cleanedAt = now }
            return state.cleanedAt > 0
        }
        shared.purgedOrders.removeSources(upTo: now - Self.overlap)
        guard isDue else { return }
        let kept = max(Int64(shared.store.configuration.maxAge / .milliseconds(1)), Self.retention) + Self.overlap
        let all = try await log.names(since: nil, within: Self.firstPollLimit)
        try await log.delete(
            all.filter { now - $0.time > ($0.isLasting ? kept : Self.retention) }, within: Self.firstPollLimit)
    }
}
