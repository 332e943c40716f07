import DarkroomMachine
package import DarkroomObjectStorage
import NIOCore

extension SharedStore {
    /// Queues the objects of a source to be written, or drops them if the queue is full or the store is failing.
    ///
    /// - Parameter version: called right before the write. Returns nil if the objects must not be stored any more, else
    ///   the record's order.
    package func store(_ write: SharedWrite, version order: @escaping @Sendable () -> Int64?) {
        guard !writing.isPausing else { return counts.countDrop() }
        let isQueued = queue.append(bytes: write.bytes) { [self] in
            guard let order = order() else { return }
            await self.write { limit throws(ObjectStorageError) in
                try await put(write, order: order, within: limit)
            }
        }
        if !isQueued { counts.countDrop() }
    }

    /// Writes the objects of a source now. The record comes last: without it the other objects are not used.
    package func put(
        _ write: SharedWrite, order: Int64, within limit: Duration
    ) async throws(ObjectStorageError) {
        try await changes.write(to: write.source) { () async throws(ObjectStorageError) in
            try await putInTurn(write, order: order, limit)
        }
    }

    private func putInTurn(_ write: SharedWrite, order: Int64, _ limit: Duration) async throws(ObjectStorageError) {
        let source = write.source
        let record = SharedRecord(order: order, metadata: write.record)
        if let original = write.original {
            let key = EntryKey(source: source, entry: original.content)
            let body = original.body.buffer
            try await put(
                SharedName.original(of: source, content: original.content), .original, key, record, body,
                digest: original.content, limit)
        }
        if let variant = write.variant {
            try await put(
                SharedName.variant(variant.key), .variant, variant.key, record, variant.entry.body,
                metadata: variant.entry.metadata, digest: variant.entry.bodyDigest, limit)
        }
        guard !known.outdates(record.version, of: source) else { return }
        let key = EntryKey(source: source, entry: source)
        try await put(SharedName.record(of: source, record.version), .record, key, record, ByteBuffer(), limit)
        if let replaced = known.insert(record.version, of: source) {
            try await bucket.delete([SharedName.record(of: source, replaced)], within: limit)
        }
    }

    private func put(
        _ name: String, _ kind: SharedObject.Kind, _ key: EntryKey, _ record: SharedRecord, _ body: ByteBuffer,
        metadata: ByteBuffer = ByteBuffer(), digest: StoreKey? = nil, _ limit: Duration
    ) async throws(ObjectStorageError) {
        let head = SharedObject.Head(
            kind: kind, key: key, writtenAt: milliseconds, record: record, metadata: metadata,
            bodyBytes: body.readableBytes, bodyDigest: digest ?? StoreKey(hashing: body.readableBytesView))
        try await bucket.write(name, SharedObject.encode(head, body), within: limit)
        counts.countWrite()
    }

    /// Queues the removal of a source, along with its records up to this order.
    package func removeSoon(_ source: StoreKey, order: Int64) {
        _ = queue.append(bytes: 0) { [self] in
            await write { _ throws(ObjectStorageError) in try await remove([source], order: order) }
        }
    }

    /// Removes sources: first marks them as removed, which outdates all records up to this order, then deletes their
    /// objects.
    package func remove(_ sources: [StoreKey], order: Int64) async throws(ObjectStorageError) {
        for source in sources {
            try await changes.remove(source) { () async throws(ObjectStorageError) in
                try await removeInTurn(source, order: order)
            }
        }
    }

    private func removeInTurn(_ source: StoreKey, order: Int64) async throws(ObjectStorageError) {
        known.remove(source)
        let version = RecordVersion(order: order, digest: nil)
        let mark = SharedName.record(of: source, version)
        let limit = configuration.writeTimeout
        try await put(
            mark, .removal, EntryKey(source: source, entry: source),
            SharedRecord(order: order, metadata: ByteBuffer()), ByteBuffer(), limit)
        var names = try await bucket.list(
            SharedName.source(source), after: nil, maxKeys: Self.deletedAtOnce, within: limit)
        // A record that is newer than the removal mark stays.
        names.removeAll { name in
            RecordVersion(ofRecordNamed: name, of: source).map { $0.order > order || $0 == version } ?? false
        }
        if !names.isEmpty { try await bucket.delete(names, within: limit) }
    }

    private static let deletedAtOnce = 1_000

    func deleteSoon(_ names: [String]) {
        _ = queue.append(bytes: 0) { [self] in
            await write { limit throws(ObjectStorageError) in try await bucket.delete(names, within: limit) }
        }
    }

    private func write(_ body: (Duration) async throws(ObjectStorageError) -> Void) async {
        guard let permit = writing.admit() else { return counts.countDrop() }
        do throws(ObjectStorageError) {
            try await body(configuration.writeTimeout)
            writing.end(permit)
        } catch {
            _ = writing.end(permit, error)
            counts.countDrop()
        }
    }
}
