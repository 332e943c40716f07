import DarkroomNetwork
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
    ///
    /// Without a target, nothing is removed, but all that was stored before is used only once its origin has confirmed
    /// it.
    typealias Execute = @Sendable (_ target: PurgeTarget?, _ isSoft: Bool, _ order: Int64) async -> Void

    /// How far back the log is read each time. Stores accept clocks that differ by 15 minutes.
    static let overlap = Int64(20 * 60_000)
    /// How long the log keeps purges of single sources. A server that was stopped for longer removes what is on disk.
    static let retention = Int64(7 * 86_400_000)
    /// The time that is added to the time of a purge to get its order. Releases that share a store must agree on it.
    static let orderLead = Int64(15_000)
    /// A purge also outdates what was requested from origins up to this long after it, since servers with clocks ahead
    /// may have requested that before it. The corrected times of two servers differ by no more if the store answers
    /// each of them within a second now and then, or if their own clocks are wrong by at most half as much
    /// (`StoreClock`).
    static let clockTolerance = Int64(5_000)
    /// With more purges to carry out at once, none is read: origins confirm what was stored before.
    static let maxPurges = 10_000

    private struct State {
        /// The purges that this process knows, as far as the log is read again.
        var seen: Set<PurgeLog.Name> = []
        /// The purges of this server that it is still carrying out.
        var own: Set<PurgeLog.Name> = []
        /// The time until which the log was read; nil = never.
        var position: Int64?
        /// Nil if purges were carried out since the progress was saved.
        var savedPosition: Int64?
        /// When the log is maintained next.
        var nextUpkeep: Int64?
        var heritage: Heritage?
    }

    /// What the disk had when this process first looked.
    private struct Heritage {
        var progress: PurgeProgress?
        var hasEntries = false
    }

    let shared: SharedTier
    private let log: PurgeLog
    private let upkeep: PurgeLogUpkeep
    private let disk: (any Storing)?
    private let unconfirmedRecords: UnconfirmedRecords
    let assurance: PurgeAssurance
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let startedAt: ContinuousClock.Instant
    private let logger: Logger
    private let state = Mutex(State())
    private let polls = SingleFlight<Bool, Bool, Void>()
    /// Work in the store that no request waits for: the deletion of purged objects, and upkeep of the log.
    let sweeps = OwnedTasks<Never>()
    /// Limits how long requests wait for a read of the log.
    private let requests: DeadlineTimer

    /// - Parameter source: the key of a source.
    init(
        _ shared: SharedTier, disk: (any Storing)?, unconfirmedRecords: UnconfirmedRecords,
        source: @escaping @Sendable (SourceURL) -> StoreKey, clock: any Clock<Duration>, logger: Logger
    ) {
        requests = DeadlineTimer(Self.requestWait, clock: clock)
        assurance = PurgeAssurance(shared.store, unconfirmedRecords, clock: clock, logger: logger)
        self.shared = shared
        self.disk = disk
        self.unconfirmedRecords = unconfirmedRecords
        instant = shared.store.instant
        startedAt = shared.store.instant()
        self.logger = logger
        log = PurgeLog(shared.store)
        upkeep = PurgeLogUpkeep(shared: shared, log: log, source: source, limit: Self.requestLimit)
    }

    /// The time after which no server uses what a purge concerns, unless its origin has confirmed it since.
    var propagation: Duration { assurance.propagation }

    private static let appendLimit = Duration.seconds(5)
    /// The longest wait of a request for a read of the log.
    private static let requestWait = Duration.milliseconds(900)
    /// The time for one request to the store. A read of the log has no limit as a whole: on a slow store it would start
    /// over each time and never end.
    private static let requestLimit = Duration.seconds(30)

    // MARK: This server's purges

    /// Announces a purge to the other servers, before it is carried out here: they need not wait for that.
    ///
    /// - Parameters:
    ///   - order: see ``order()``.
    ///   - source: the key of the target, if it is one source. It is removed from the shared tier.
    /// - Returns: the purge, for ``finish(_:_:isSoft:order:sources:)``; nil if it did not reach the other servers.
    func announce(_ target: PurgeTarget, isSoft: Bool, order: Int64, source: StoreKey?) async -> PurgeLog.Name? {
        let name = PurgeLog.Name(time: order - Self.orderLead, isLasting: source == nil)
        state.withLock { _ = $0.own.insert(name) }
        do throws(ObjectStorageError) {
            // Marks the source in the store first: a server that carries out the purge must not find the source there
            // again.
            if let source {
                if isSoft {
                    try await shared.markStale(source, order: order)
                } else {
                    try await shared.store.remove([source], order: order)
                }
            }
            try await log.append(PurgeMessage(target, isSoft: isSoft).bytes, as: name, within: Self.appendLimit)
            return name
        } catch {
            state.withLock { _ = $0.own.remove(name) }
            logger.error("a purge did not reach the other servers", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// Records that this server has carried out its purge, and deletes the objects that it concerns.
    ///
    /// - Parameter sources: the sources that the purge is known to concern.
    func finish(_ name: PurgeLog.Name, _ target: PurgeTarget, isSoft: Bool, order: Int64, sources: [StoreKey]) {
        record([name])
        state.withLock { _ = $0.own.remove(name) }
        guard name.isLasting else { return }
        // After thousands of purges of single sources, the next read of the log saves the progress for all of them.
        save()
        guard !isSoft else { return }
        for source in sources { shared.store.removeSoon(source, order: order, isPurged: true) }
        sweeps.run { [shared, logger] in await shared.sweep(target, upTo: order, logger) }
    }

    /// The order of a purge that begins now.
    func order() async -> Int64 {
        await shared.store.learnTime(within: Self.appendLimit)
        return shared.store.milliseconds + Self.orderLead
    }

    // MARK: Other servers' purges

    /// Ends the deletion of purged objects, which are not used in any case, and saves the progress.
    func shutdown() {
        sweeps.shutdown()
        if state.withLock({ $0.savedPosition == nil }) { save() }
    }

    /// Reads the log and carries out the new purges. Several callers share one read.
    ///
    /// - Returns: whether the log could be read.
    func poll(_ execute: @escaping Execute) async -> Bool {
        await polls.value(for: true) { [self] in await pollOnce(execute) } ?? false
    }

    /// Reads the log before a request is answered, or before the first one. The request waits no longer than reading
    /// takes: if the new purges take longer to carry out, each source is revalidated with its origin until they are.
    func catchUp(_ execute: @escaping Execute) async {
        let deadline = Deadline()
        let number = requests.begin { deadline.pass() }
        defer { requests.end(number) }
        let isDone = await polls.value(for: true, deadline: deadline) { [self] in await pollOnce(execute) }
        if isDone == nil, deadline.hasPassed { assurance.suspectRecords() }
    }

    private func pollOnce(_ execute: @escaping Execute) async -> Bool {
        let began = instant()
        guard let position = await readUnderWatch(execute) else { return false }
        assurance.finishRead(began: began)
        let isSaveDue = state.withLock { state in
            state.position = position
            // Later reads of the log begin at the last of these moments.
            state.seen = state.seen.filter { $0.time >= position - Self.overlap }
            return state.savedPosition.map { abs(position - $0) >= 60_000 } ?? true
        }
        if isSaveDue { save() }
        maintainIfDue(position)
        return true
    }

    /// - Returns: the time until which the log was read; nil after a failure.
    private func readUnderWatch(_ execute: @escaping Execute) async -> Int64? {
        // At the start, the purges of a longer time are read. Ends with this function.
        async let _: Void = assurance.watch(isExpected: state.withLock { $0.position == nil })
        do throws(ObjectStorageError) {
            return try await read(execute)
        } catch {
            // A read without waiting requests says nothing about the store.
            guard !Task.isCancelled else { return nil }
            assurance.suspectRecords()
            assurance.recordLateRead("\(error)")
            return nil
        }
    }

    /// - Returns: the time until which the log was read.
    private func read(_ execute: @escaping Execute) async throws(ObjectStorageError) -> Int64 {
        let started = shared.store.milliseconds
        guard let position = state.withLock(\.position) else { return try await readFirst(started, execute) }
        let progress = PurgeProgress(position: position)
        let listed = try await list(since: position - Self.overlap, after: progress)
        let now = min(started, shared.store.milliseconds)
        // Some of the purges since then may have been deleted.
        if now - position > Self.retention - Self.overlap {
            unconfirmedRecords.distrust(at: shared.store.now())
            shared.purgedOrders.forgetSources(upTo: upkeep.sourcesKept)
        }
        try await carryOut(listed, after: progress, now: now, execute)
        return now
    }

    /// Reads the log after the latest summary of it, and after the position of an earlier process.
    private func readFirst(_ started: Int64, _ execute: @escaping Execute) async throws(ObjectStorageError) -> Int64 {
        let heritage = await heritage()
        let summedUp = try await upkeep.recall()
        // The first answer may have corrected a clock that was ahead.
        let now = min(started, shared.store.milliseconds)
        let progress = await resume(heritage, now: now, execute)
        let start = summedUp.map { min($0.time, progress.position - Self.overlap) }
        let listed = try await list(since: start, after: progress)
        try await carryOut(listed, after: progress, now: now, execute)
        let first = listed.isComplete ? upkeep.sourcesAfter(summedUp) : shared.store.milliseconds + Self.orderLead
        let sources = listed.names.filter { !$0.isLasting && !progress.lacks($0) && $0.time > summedUp?.time ?? -1 }
        if sources.isEmpty { shared.purgedOrders.recordSources(after: first) }
        // Requests do not wait for the others: until they are known, lookups ask the store for the newest record.
        maintain { upkeep throws(ObjectStorageError) in
            if !sources.isEmpty { await upkeep.recallSources(sources, after: first) }
            if listed.names.count > PurgeLogUpkeep.maxUnsummed { try await upkeep.sumUp(position: now) }
        }
        return now
    }

    private func heritage() async -> Heritage {
        if let known = state.withLock(\.heritage) { return known }
        var found = Heritage(progress: await disk?.peek(PurgeProgress.key).flatMap { PurgeProgress($0.metadata) })
        if found.progress == nil, let disk {
            found.hasEntries = await disk.sources(matching: .all).contains { $0 != PurgeProgress.key.source }
        }
        state.withLock { [found] in $0.heritage = found }
        return found
    }

    /// Continues where an earlier process ended.
    private func resume(_ heritage: Heritage, now: Int64, _ execute: @escaping Execute) async -> PurgeProgress {
        guard let saved = heritage.progress else {
            // The wall clock may have been wrong at the start.
            let age = startedAt.duration(to: instant())
            // No purge was carried out on entries from a time without a shared store.
            if heritage.hasEntries {
                unconfirmedRecords.distrust(at: shared.store.now().addingTimeInterval(-(age / .seconds(1))))
            }
            return PurgeProgress(position: now - Int64(age / .milliseconds(1)))
        }
        // A position that is not in the past is damaged, or from a clock that was ahead.
        let isPast = (0...max(now, 0) + Self.overlap).contains(saved.position)
        if isPast, now - saved.position <= Self.retention - Self.overlap {
            unconfirmedRecords.distrust(until: saved.distrustedUntil, notAfter: shared.store.now())
            // Lasting ones are recorded as they are read: they still concern objects in the store.
            record(saved.done.filter { !$0.isLasting })
            return saved
        }
        await execute(.everything, false, -1)
        state.withLock { $0.heritage = Heritage() }
        return PurgeProgress(position: now)
    }

    private typealias Listed = (names: [PurgeLog.Name], isComplete: Bool)

    /// The purges since a time, oldest first; nil = all. With too many new ones, none is carried out by itself, so that
    /// further ones are left out: a store takes seconds to list a very long log.
    private func list(since start: Int64?, after progress: PurgeProgress) async throws(ObjectStorageError) -> Listed {
        var count = 0
        return try await log.names(since: start, within: Self.requestLimit) { names in
            count += new(names, after: progress).count
            return count <= Self.maxPurges
        }
    }

    /// The purges that this server neither knows nor is carrying out.
    private func new(_ names: [PurgeLog.Name], after progress: PurgeProgress) -> [PurgeLog.Name] {
        let seen = state.withLock { $0.seen.union($0.own) }
        // Purges of single sources may stay unknown once they are carried out: the store has marks of them.
        return names.filter { !seen.contains($0) && ($0.isLasting || progress.lacks($0)) }
    }

    private func carryOut(
        _ listed: Listed, after progress: PurgeProgress, now: Int64, _ execute: @escaping Execute
    ) async throws(ObjectStorageError) {
        let new = new(listed.names, after: progress)
        if listed.isComplete, new.count <= Self.maxPurges { return try await carryOut(new, after: progress, execute) }
        logger.warning(
            "too many purges to carry out one by one: cached images are used only as their origins confirm them",
            metadata: ["purges": "\(listed.isComplete ? "" : "more than ")\(new.count)"])
        let known = try await log.names(since: now - Self.overlap, within: Self.requestLimit).names
        await execute(nil, true, max(now, known.last?.time ?? now) + Self.orderLead)
        record(known)
    }

    /// - Throws: the error of reading a purge. All other purges have been carried out then.
    private func carryOut(
        _ names: [PurgeLog.Name], after progress: PurgeProgress, _ execute: @escaping Execute
    ) async throws(ObjectStorageError) {
        var failure: ObjectStorageError?
        for batch in stride(from: 0, to: names.count, by: Self.concurrency) {
            let names = names[batch..<min(batch + Self.concurrency, names.count)]
            let messages = await withTaskGroup(of: (PurgeLog.Name, PurgeLog.ReadResult).self) { [log] group in
                for name in names { group.addTask { (name, await log.read(name, within: Self.requestLimit)) } }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for name in names.sorted() {
                do throws(ObjectStorageError) {
                    if let message = try messages[name]?.get() {
                        await carryOut(name, PurgeMessage(message), progress.lacks(name) ? execute : nil)
                    } else if try await log.names(since: name.time, within: Self.requestLimit).names.contains(name) {
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

    private static let concurrency = 16

    /// - Parameter execute: nil for a lasting purge that was carried out before: it still concerns objects that servers
    ///   store without knowing it.
    private func carryOut(_ name: PurgeLog.Name, _ message: PurgeMessage?, _ execute: Execute?) async {
        let (target, order) = (message?.target, name.time + Self.orderLead)
        let isSoft = target != nil && message?.isSoft == true
        if let execute {
            await execute(target ?? .everything, isSoft, order)
        } else {
            shared.purgedOrders.add(target ?? .everything, source: nil, order: order, isSoft: isSoft)
        }
        record([name])
    }

    /// Records that purges were carried out.
    private func record(_ names: some Sequence<PurgeLog.Name>) {
        state.withLock { state in
            state.seen.formUnion(names)
            state.savedPosition = nil
        }
    }

    /// Saves the progress, behind the removals that were handed to the disk before.
    func save() {
        let progress = state.withLock { state -> PurgeProgress? in
            guard let position = state.position else { return nil }
            state.savedPosition = position
            var progress = PurgeProgress(position: position)
            progress.done = state.seen.filter { progress.lacks($0) }
            progress.distrustedUntil = unconfirmedRecords.distrustedUntil
            return progress
        }
        guard let disk, let progress else { return }
        let isAccepted = disk.store(
            StoredEntry(body: ByteBuffer(), metadata: progress.bytes), for: PurgeProgress.key)
        if !isAccepted { state.withLock { $0.savedPosition = nil } }
    }

    /// Keeps the log short, once an hour, and the first time when the purges from before the start can be summed up.
    private func maintainIfDue(_ position: Int64) {
        shared.purgedOrders.trimSources(upTo: position - Self.overlap)
        let isDue = state.withLock { state in
            let next = state.nextUpkeep ?? position + 2 * Self.overlap
            let isDue = position >= next
            state.nextUpkeep = isDue ? position + 3_600_000 : next
            return isDue
        }
        guard isDue else { return }
        maintain { upkeep throws(ObjectStorageError) in try await upkeep.run(position: position) }
    }

    /// Works on the log in the background. If that fails, the next time does it.
    private func maintain(_ work: @escaping @Sendable (PurgeLogUpkeep) async throws(ObjectStorageError) -> Void) {
        sweeps.run { [upkeep, logger] in
            do throws(ObjectStorageError) {
                try await work(upkeep)
            } catch {
                logger.debug("the purge log stays long", metadata: ["reason": "\(error)"])
            }
        }
    }
}
