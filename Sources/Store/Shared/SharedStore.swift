package import DarkroomMachine
package import DarkroomObjectStorage
package import Foundation
package import Logging
import NIOCore
import Synchronization

/// The tier that all servers share, in an object store.
///
/// It never fails a request: an entry that the store does not deliver in time is a miss, and an entry that it does not
/// accept is dropped. While the store fails, requests are sent to it only occasionally.
package final class SharedStore: Sendable {
    let bucket: any ObjectBucket
    package let configuration: SharedStoreConfiguration
    let counts = Mutex(SharedStatistics())
    /// The moment of which this server knows all purges, or its start.
    private let purgesReadAt: Mutex<ContinuousClock.Instant>
    /// Whether the store has answered, so that its time is known.
    private let hasTime = Atomic(false)
    /// The number of reads of variants in a row, up to the last one, that took a long share of the timeout.
    private let slowReads = Mutex(0)
    private static let longShare = 0.25
    /// This machine's wall clock.
    package let now: @Sendable () -> Date
    /// The clock of pauses.
    package let instant: @Sendable () -> ContinuousClock.Instant
    let queue: SharedWriteQueue
    private let reading: StoreOutage
    let writing: StoreOutage
    /// The newest records and removals that are known to be in the store, so that older ones are not used, and records
    /// are not written again.
    let known = KnownRecords()
    let changes = SourceChanges()

    /// - Parameters:
    ///   - now: the wall clock.
    ///   - instant: the clock of pauses.
    package init(
        _ bucket: any ObjectBucket, _ configuration: SharedStoreConfiguration = SharedStoreConfiguration(),
        logger: Logger, now: @escaping @Sendable () -> Date = { Date() },
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.bucket = bucket
        self.configuration = configuration
        self.now = now
        self.instant = instant
        purgesReadAt = Mutex(instant())
        queue = SharedWriteQueue(maxBytes: configuration.maxQueuedBytes)
        reading = StoreOutage("reading", instant: instant, logger: logger)
        writing = StoreOutage("writing", instant: instant, logger: logger)
    }

    /// The store's time in milliseconds since 1970, by which nodes order records and purges.
    package var milliseconds: Int64 { milliseconds(of: now()) }

    /// The store's time minus this machine's time, in seconds. Dates in shared records are by the store's clock, since
    /// the clocks of servers differ.
    package var clockOffset: TimeInterval { bucket.clockOffset }

    /// A moment of this machine's clock in the store's time.
    package func milliseconds(of date: Date) -> Int64 {
        Int64(((date.timeIntervalSince1970 + clockOffset) * 1000).rounded())
    }

    /// Asks the store for a list, to find out whether it may be used as the settings say.
    package func check(within limit: Duration) async throws(ObjectStorageError) {
        _ = try await bucket.list(SharedName.purges, after: nil, maxKeys: 1, within: limit)
        hasTime.store(true, ordering: .relaxed)
    }

    /// Asks the store for its time if it has not answered since the start.
    package func learnTime(within limit: Duration) async {
        if !hasTime.load(ordering: .relaxed) { try? await check(within: limit) }
    }

    /// The counts since the start.
    package var statistics: SharedStatistics {
        var statistics = counts.withLock(\.self)
        (statistics.queuedWrites, statistics.queuedBytes) = queue.waiting
        (statistics.isReadable, statistics.isWritable) = (!reading.isFailing, !writing.isFailing)
        statistics.purgeLogAge = purgesReadAt.withLock(\.self).duration(to: instant())
        return statistics
    }

    /// Records that the purges of all servers until this moment have been carried out.
    package func recordPurgesRead(until moment: ContinuousClock.Instant) {
        hasTime.store(true, ordering: .relaxed)
        purgesReadAt.withLock { $0 = moment }
    }

    /// Waits for the queued writes, and drops the rest after the limit.
    package func close(within limit: Duration = .seconds(10)) async { await queue.close(within: limit) }

    /// Returns once all writes that were queued before have ended.
    package func flush() async { await queue.drain() }
}

// MARK: Reading

extension SharedStore {
    /// Looks for a variant and a record of its source.
    ///
    /// If the record that the variant was stored with may be used, a read of the variant finds both. Otherwise the
    /// newest record is listed, and read if the variant was stored with an older one. While reads take long, the newest
    /// record is listed at the same time in any case, since the timeout leaves no time for that afterward.
    ///
    /// - Parameters:
    ///   - variant: nil = only the record.
    ///   - known: a record that need not be delivered again.
    ///   - isUsable: whether a record may be used although a newer one may exist; nil = none may, so that the store is
    ///     asked for the newest record and the variant at the same time.
    package func look(
        for source: StoreKey, variant: EntryKey?, newerThan known: Int64? = nil,
        isUsable: (@Sendable (SharedRecord) -> Bool)? = nil
    ) async -> SharedFindings {
        let findings = await read { limit throws(ObjectStorageError) -> SharedFindings in
            guard let isUsable, slowReads.withLock({ $0 < 2 }) else {
                async let found = self.variant(variant, limit())
                let newest = try await newestRecord(of: source, limit())
                return try await newestFindings(newest, of: source, found.get(), newerThan: known, limit())
            }
            let found = try await self.variant(variant, limit()).get()
            if let found, !self.known.isNewer(than: found.record.order, source), isUsable(found.record) {
                return SharedFindings(record: found.record, variant: found)
            }
            let newest = try await newestRecord(of: source, limit())
            return try await newestFindings(newest, of: source, found, newerThan: known, limit())
        }
        guard let findings else { return SharedFindings() }
        if let record = findings.record { self.known.insert(record.version, of: source) }
        countLook(isHit: variant == nil ? findings.record != nil : findings.variant != nil)
        return findings
    }

    private func newestFindings(
        _ newest: RecordVersion?, of source: StoreKey, _ variant: SharedFindings.Variant?, newerThan known: Int64?,
        _ limit: Duration
    ) async throws(ObjectStorageError) -> SharedFindings {
        guard let newest, newest.digest != nil else { return SharedFindings() }
        var findings = SharedFindings(variant: variant)
        if let made = variant?.record, made.version == newest {
            findings.record = made
        } else if newest.order > known ?? -1 {
            findings.record = try await record(of: source, newest, limit)
        }
        return findings
    }

    /// A variant whose record is known already.
    package func variant(_ key: EntryKey) async -> SharedFindings.Variant? {
        await find { limit throws(ObjectStorageError) in try await self.variant(key, limit()).get() }
    }

    package func original(of source: StoreKey, content: StoreKey) async -> SharedBytes? {
        await find { limit throws(ObjectStorageError) in
            let key = EntryKey(source: source, entry: content)
            return try await object(
                SharedName.original(of: source, content: content), .original, key, limit()
            ).flatMap { $0.head.bodyDigest == content ? $0.body : nil }
        }
    }

    /// Reads one object, and counts the lookup if the store answers.
    private func find<Value: Sendable>(
        _ body: (_ limit: @Sendable () -> Duration) async throws(ObjectStorageError) -> Value?
    ) async -> Value? {
        guard let found = await read(body) else { return nil }
        countLook(isHit: found != nil)
        return found
    }

    private func countLook(isHit: Bool) {
        counts.withLock { if isHit { $0.hits += 1 } else { $0.misses += 1 } }
    }

    private func variant(
        _ key: EntryKey?, _ limit: Duration
    ) async -> Result<SharedFindings.Variant?, ObjectStorageError> {
        guard let key else { return .success(nil) }
        let began = instant()
        defer {
            let isSlow = began.duration(to: instant()) >= configuration.timeout * Self.longShare
            slowReads.withLock { $0 = isSlow ? $0 + 1 : 0 }
        }
        do throws(ObjectStorageError) {
            let object = try await object(SharedName.variant(key), .variant, key, limit)
            return .success(object.map { SharedFindings.Variant($0) })
        } catch {
            return .failure(error)
        }
    }

    private func newestRecord(
        of source: StoreKey, _ limit: Duration
    ) async throws(ObjectStorageError) -> RecordVersion? {
        let names = try await bucket.list(
            SharedName.records(of: source), after: nil, maxKeys: Self.listedRecords, within: limit)
        let versions = names.compactMap { RecordVersion(ofRecordNamed: $0, of: source) }
        if versions.count > 1 { deleteSoon(versions.dropFirst().map { SharedName.record(of: source, $0) }) }
        return versions.first
    }

    /// A source has more than one record only while its record is replaced.
    private static let listedRecords = 4

    func record(
        of source: StoreKey, _ version: RecordVersion, _ limit: Duration
    ) async throws(ObjectStorageError) -> SharedRecord? {
        let key = EntryKey(source: source, entry: source)
        let record = try await object(SharedName.record(of: source, version), .record, key, limit)?.head.record
        return record.flatMap { $0.version == version ? $0 : nil }
    }

    /// An object, if it exists, matches its name, is intact and is not too old.
    func object(
        _ name: String, _ kind: SharedObject.Kind, _ key: EntryKey, _ limit: Duration
    ) async throws(ObjectStorageError) -> SharedObject? {
        let reader = SharedObjectReader()
        let maxBytes = configuration.maxBodyBytes + SharedObject.leadBytes + SharedObject.maxHeadBytes
        let damaged = ObjectStorageError.tooLarge(limitBytes: maxBytes)
        do throws(ObjectStorageError) {
            let isThere = try await bucket.read(name, maxBytes: maxBytes, within: limit) {
                part throws(ObjectStorageError) in
                guard reader.append(part) else { throw damaged }
            }
            guard isThere else { return nil }
        } catch {
            guard error == damaged else { throw error }
            counts.withLock { $0.damaged += 1 }
            return nil
        }
        guard let object = reader.finish(), object.head.kind == kind, object.head.key == key,
            object.head.isPlausible(at: milliseconds)
        else {
            counts.withLock { $0.damaged += 1 }
            return nil
        }
        let isExpired = milliseconds - object.head.writtenAt > Int64(configuration.maxAge / .milliseconds(1))
        return isExpired && kind != .purge ? nil : object
    }

    /// Reads unless the store is failing.
    ///
    /// - Parameter body: gets the remaining time of the lookup.
    /// - Returns: nil if the store did not answer in time.
    func read<Value: Sendable>(
        _ body: (_ limit: @Sendable () -> Duration) async throws(ObjectStorageError) -> Value
    ) async -> Value? {
        guard let permit = reading.admit() else {
            counts.withLock { $0.skipped += 1 }
            return nil
        }
        let end = ContinuousClock.now + configuration.timeout
        do throws(ObjectStorageError) {
            let value = try await body { max(.zero, ContinuousClock.now.duration(to: end)) }
            reading.end(permit)
            return value
        } catch {
            if reading.end(permit, error) { counts.withLock { $0.failures += 1 } }
            return nil
        }
    }
}

extension SharedStore {
    /// Queues the objects of a source to be written, or drops them if the queue is full or the store is failing.
    ///
    /// - Parameter version: called right before the write. Returns nil if the objects must not be stored any more, else
    ///   the record's order.
    package func store(_ write: SharedWrite, version order: @escaping @Sendable () -> Int64?) {
        guard !writing.isPausing else { return countDrop() }
        let isQueued = queue.append(bytes: write.bytes) { [self] in
            if !hasTime.load(ordering: .relaxed) {
                await self.write { limit throws(ObjectStorageError) in try await check(within: limit) }
            }
            guard hasTime.load(ordering: .relaxed), let order = order() else { return }
            await self.write { limit throws(ObjectStorageError) in
                try await put(write, order: order, within: limit)
            }
        }
        if !isQueued { countDrop() }
    }

    private func countDrop() { counts.withLock { $0.droppedWrites += 1 } }

    /// Writes the objects of a source now. The record comes last: without it the other objects are not used.
    package func put(
        _ write: SharedWrite, order: Int64, within limit: Duration
    ) async throws(ObjectStorageError) {
        let source = write.source
        let record = SharedRecord(order: order, metadata: write.record)
        try await changes.perform(.write, source) { () async throws(ObjectStorageError) in
            if let original = write.original {
                let key = EntryKey(source: source, entry: original.content)
                try await put(
                    SharedName.original(of: source, content: original.content), .original, key, record,
                    original.body.buffer, digest: original.content, limit: limit)
            }
            if let variant = write.variant {
                try await put(
                    SharedName.variant(variant.key), .variant, variant.key, record, variant.entry.body,
                    metadata: variant.entry.metadata, digest: variant.entry.bodyDigest, limit: limit)
            }
            guard !known.outdates(record.version, of: source) else { return }
            let key = EntryKey(source: source, entry: source)
            try await put(SharedName.record(of: source, record.version), .record, key, record, limit: limit)
            if let replaced = known.insert(record.version, of: source), replaced.digest != nil {
                try await bucket.delete([SharedName.record(of: source, replaced)], within: limit)
            }
        }
    }

    private func put(
        _ name: String, _ kind: SharedObject.Kind, _ key: EntryKey, _ record: SharedRecord,
        _ body: ByteBuffer = ByteBuffer(), metadata: ByteBuffer = ByteBuffer(), digest: StoreKey? = nil,
        limit: Duration
    ) async throws(ObjectStorageError) {
        let head = SharedObject.Head(
            kind: kind, key: key, writtenAt: milliseconds, record: record, metadata: metadata,
            bodyBytes: body.readableBytes, bodyDigest: digest ?? StoreKey(hashing: body.readableBytesView))
        try await bucket.write(name, SharedObject.encode(head, body), within: limit)
        counts.withLock { $0.writes += 1 }
    }

    /// Queues the removal of a source, along with its records up to this order.
    ///
    /// - Parameter isPurged: whether purges keep the source from being used in any case.
    package func removeSoon(_ source: StoreKey, order: Int64, isPurged: Bool) {
        // After a purge, the order of a record is later than its time.
        let order = isPurged ? order : max(order, known.order(of: source) ?? order)
        _ = queue.append(isPurged ? .deletion : .write, bytes: 0) { [self] in
            await write { _ throws(ObjectStorageError) in try await remove([source], order: order) }
        }
    }

    /// Removes sources: first marks them as removed, which outdates all records up to this order, then deletes their
    /// objects.
    package func remove(_ sources: [StoreKey], order: Int64) async throws(ObjectStorageError) {
        let version = RecordVersion(order: order, digest: nil)
        let record = SharedRecord(order: order, metadata: ByteBuffer())
        let limit = configuration.writeTimeout
        for source in sources {
            try await changes.perform(.removal, source) { () async throws(ObjectStorageError) in
                known.remove(source, upTo: order)
                let key = EntryKey(source: source, entry: source)
                try await put(SharedName.record(of: source, version), .removal, key, record, limit: limit)
                known.insert(version, of: source)
                try await deleteObjects(of: source, removedAt: version, limit)
            }
        }
    }

    func deleteSoon(_ names: [String]) {
        _ = queue.append(.deletion, bytes: 0) { [self] in
            await write { limit throws(ObjectStorageError) in try await bucket.delete(names, within: limit) }
        }
    }

    private func write(_ body: (Duration) async throws(ObjectStorageError) -> Void) async {
        guard let permit = writing.admit() else { return countDrop() }
        do throws(ObjectStorageError) {
            try await body(configuration.writeTimeout)
            writing.end(permit)
        } catch {
            writing.end(permit, error)
            countDrop()
        }
    }
}

/// Counts of the shared tier since the server started.
package struct SharedStatistics: Equatable, Sendable {
    /// Lookups that found an entry.
    package var hits = 0
    /// Lookups that found nothing.
    package var misses = 0
    /// Lookups that the store did not answer in time, or answered with an error.
    package var failures = 0
    /// Lookups that were skipped because the store was failing.
    package var skipped = 0
    /// Objects that were corrupt, foreign or incomplete.
    package var damaged = 0
    /// Objects written.
    package var writes = 0
    /// Writes that were dropped: the queue was full, or the store failed.
    package var droppedWrites = 0
    /// The number of writes that are waiting or running.
    package var queuedWrites = 0
    /// The memory that these writes hold, in bytes.
    package var queuedBytes = 0
    /// Whether reading works, as far as is known.
    package var isReadable = true
    /// Whether writing works, as far as is known.
    package var isWritable = true
    /// The time since the purges of all servers were last known completely.
    package var purgeLogAge = Duration.zero
}
