import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomObjectStorage
import DarkroomRequests
import DarkroomStore
import DarkroomWaiting
import Foundation
import Logging

/// The tier that several servers share. Requests for the same entries at the same time share one lookup.
final class SharedTier: Sendable {
    let store: SharedStore
    let purgedOrders = PurgedOrders()
    let purgesUnderWay = PurgesUnderWay()
    /// The time that is added to the time of a request to an origin to get the order of its record.
    private static let orderLead = PurgeFollower.orderLead - PurgeFollower.clockTolerance
    private let policy: FreshnessPolicy
    private let looks = SingleFlight<LookKey, SharedFindings, Void>()
    private let originals = SingleFlight<StoreKey, SharedBytes?, Void>()

    private struct LookKey: Hashable {
        let variant: EntryKey
        let known: Int64?
        /// The policy by which a record is usable; nil = the newest record is looked for.
        let policy: RequestCachePolicy?
        /// No request joins a lookup that started before a purge.
        let epoch: PurgeEpoch
    }

    init(_ store: SharedStore, policy: FreshnessPolicy) {
        self.store = store
        self.policy = policy
    }

    // MARK: Reading

    /// Looks for a record of the request's source and for its variant, whatever its content. The record is nil if there
    /// is none, or if the known record is as new.
    ///
    /// - Parameter isUsable: whether the request may use the record that the variant was stored with, although a newer
    ///   record may exist, as far as purges permit it; nil = the newest record is looked for.
    func look(
        for access: CacheAccess, known: SourceRecord?, isUsable: (@Sendable (SourceRecord) -> Bool)? = nil
    ) async -> (record: SourceRecord?, variant: StoredEntry?) {
        let source = access.keys.source
        let key = LookKey(
            variant: access.keys.variant, known: known.map { order(of: $0) },
            policy: isUsable == nil ? nil : access.options.policy, epoch: access.epoch)
        let wantsVariant = access.options.query.variants.contains(.shared)
        let isPermitted: (@Sendable (SharedRecord) -> Bool)? = isUsable.map { isUsable in
            { @Sendable [self] (found: SharedRecord) in
                decode(found).map { purgedOrders.permit(found.order, of: source, $0) && isUsable($0) } ?? false
            }
        }
        let findings = await looks.value(for: key, deadline: access.deadline) { [store] in
            await store.look(
                for: source, variant: wantsVariant ? key.variant : nil, newerThan: key.known, isUsable: isPermitted)
        }
        return (findings?.record.flatMap { record($0, of: source) }, findings?.variant?.entry)
    }

    /// The bytes of the request's source.
    func original(of access: CacheAccess, _ record: SourceRecord) async -> SharedBytes? {
        guard store.configuration.storesOriginals else { return nil }
        let source = access.keys.source
        return await originals.value(for: record.content, deadline: access.deadline) { [store] in
            await store.original(of: source, content: record.content)
        }.flatMap(\.self)
    }

    /// Decodes a record, as far as purges permit its use.
    private func record(_ found: SharedRecord, of source: StoreKey) -> SourceRecord? {
        guard let record = decode(found) else { return nil }
        let orders = purgedOrders.orders(of: source, record)
        guard found.order > orders.removed else {
            store.removeSoon(source, order: orders.removed, isPurged: true)
            return nil
        }
        let isDoubtful = found.order <= orders.doubtful
        guard isDoubtful || found.order <= orders.stale else { return record }
        var response = record.response
        if response.staleSince == nil {
            let purged = Double(max(orders.stale, orders.doubtful)) / 1000
            response.staleSince = Date(timeIntervalSince1970: purged) - store.clockOffset
        }
        return record.with(response, isConfirmed: !isDoubtful, policy: policy)
    }

    private func decode(_ found: SharedRecord) -> SourceRecord? {
        SourceRecord(found.metadata, leastOrder: found.order, policy: policy)?
            .moved(by: -store.clockOffset, policy: policy)
    }

    // MARK: Writing

    /// Stores a record, and a variant with its original.
    ///
    /// - Parameter isCurrent: whether the source has not been purged since the request started. Called right before the
    ///   write.
    func store(
        _ record: SourceRecord, of source: StoreKey,
        variant: (key: EntryKey, entry: StoredEntry)? = nil,
        original: Original? = nil, isCurrent: @escaping @Sendable () -> Bool
    ) {
        var write = SharedWrite(of: source, record: record.moved(by: store.clockOffset, policy: policy).bytes)
        let limits = store.configuration
        if let variant, variant.entry.content.count <= limits.maxBodyBytes { write.variant = variant }
        if let original, original.body.count <= limits.maxBodyBytes { write.original = (record.content, original.body) }
        store.store(write) { [self] in
            // In this order: a purge counts in the epochs before it counts here.
            let order = orderAfterPurges(of: record, source)
            return isCurrent() ? order : nil
        }
    }

    /// The order with which a record is stored; nil if a purge concerns it.
    ///
    /// The order of a purge is later than its time, and the times of servers differ: a record that is older by at most
    /// both may be from after the purge.
    private func orderAfterPurges(of record: SourceRecord, _ source: StoreKey) -> Int64? {
        let (own, orders) = (order(of: record), purgedOrders.orders(of: source, record))
        guard !purgesUnderWay.concern(record, of: source, order: own) else { return nil }
        // Nodes validate a record that says that it is stale.
        let last = record.response.staleSince == nil ? orders.last : orders.removed
        return own >= last - 2 * PurgeFollower.clockTolerance ? max(own, orders.next) : nil
    }

    /// Marks the newest record of a source as stale, whichever server wrote it.
    func markStale(_ source: StoreKey, order: Int64) async throws(ObjectStorageError) {
        guard let found = await store.look(for: source, variant: nil).record, found.order <= order,
            let record = SourceRecord(found.metadata, policy: policy)
        else { return }
        var response = record.response
        response.staleSince = Date(timeIntervalSince1970: Double(order) / 1000)
        let write = SharedWrite(of: source, record: record.with(response, policy: policy).bytes)
        try await store.put(write, order: order, within: store.configuration.writeTimeout)
    }

    /// Removes a source that is gone or must not be stored, according to its origin.
    func remove(_ source: StoreKey) {
        store.removeSoon(source, order: store.milliseconds + Self.orderLead, isPurged: false)
    }

    /// Deletes the objects of a purge's sources. They are not used in any case; this frees their space.
    func sweep(_ target: PurgeTarget, upTo order: Int64, _ logger: Logger) async {
        do throws(ObjectStorageError) {
            let isMeant = { @Sendable [policy] (found: SharedRecord) in
                guard let record = SourceRecord(found.metadata, policy: policy) else { return true }
                return target.matches(url: record.url, host: record.host, tags: record.response.tags)
            }
            let deleted = try await store.sweep(
                upTo: order, within: store.configuration.writeTimeout, isMeant: target == .everything ? nil : isMeant)
            logger.info("deleted purged objects from the shared store", metadata: ["objects": "\(deleted)"])
        } catch {
            logger.warning("purged objects stay in the shared store", metadata: ["reason": "\(error)"])
        }
    }

    /// The order of a response that this process got from the origin; nil for other records. A purge that this server
    /// learns of late does not concern it if its order is later.
    func orderOfResponse(_ record: SourceRecord) -> Int64? {
        guard let requestedAt = record.requestedAt else { return nil }
        // The wall clock may have been set since then.
        let age = Int64(requestedAt.duration(to: store.instant()) / .milliseconds(1))
        return min(store.milliseconds(of: record.response.requestedAt), store.milliseconds - age) + Self.orderLead
    }

    private func order(of record: SourceRecord) -> Int64 {
        let requestedAt = store.milliseconds(of: max(record.response.requestedAt, record.leastDate))
        return max(requestedAt + Self.orderLead, record.leastOrder)
    }
}
