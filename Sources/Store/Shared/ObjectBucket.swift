package import DarkroomObjectStorage
package import Foundation
package import NIOCore

/// The folder of an object store that holds the shared tier. Keys are relative to it.
package protocol ObjectBucket: Sendable {
    /// The store's time minus this machine's time in seconds, as far as the difference is known.
    var clockOffset: TimeInterval { get }

    /// Reads an object as it arrives.
    ///
    /// - Parameter deliver: receives the next bytes.
    /// - Returns: whether the object exists.
    func read(
        _ key: String, maxBytes: Int, within limit: Duration,
        deliver: @escaping @Sendable (ByteBuffer) throws(ObjectStorageError) -> Void
    ) async throws(ObjectStorageError) -> Bool

    /// Writes an object, and replaces an existing one.
    func write(_ key: String, _ body: ByteBuffer, within limit: Duration) async throws(ObjectStorageError)

    /// Deletes objects. Keys without an object count as deleted.
    func delete(_ keys: [String], within limit: Duration) async throws(ObjectStorageError)

    /// Lists keys in the order of their bytes.
    ///
    /// - Parameter after: a key, which need not exist; nil = from the beginning.
    func list(
        _ prefix: String, after: String?, maxKeys: Int, within limit: Duration
    ) async throws(ObjectStorageError) -> [String]
}

/// A folder of a real store.
package struct StoreFolder: ObjectBucket {
    private let store: ObjectStore
    private let bucket: BucketName
    /// Empty, or text that ends with `/`.
    private let folder: String

    /// - Parameter folder: the beginning of all keys, without slashes at both ends.
    package init(_ store: ObjectStore, bucket: BucketName, folder: String) {
        self.store = store
        self.bucket = bucket
        self.folder = folder.isEmpty ? "" : "\(folder)/"
    }

    package var clockOffset: TimeInterval { store.clockOffset }

    package func read(
        _ key: String, maxBytes: Int, within limit: Duration,
        deliver: @escaping @Sendable (ByteBuffer) throws(ObjectStorageError) -> Void
    ) async throws(ObjectStorageError) -> Bool {
        do throws(ObjectStorageError) {
            _ = try await store.get(name(key), ObjectRead(maxBytes: maxBytes), within: limit) {
                part throws(ObjectStorageError) in
                if case .bytes(let bytes) = part { try deliver(bytes) }
            }
            return true
        } catch {
            guard error == .notFound else { throw error }
            return false
        }
    }

    package func write(_ key: String, _ body: ByteBuffer, within limit: Duration) async throws(ObjectStorageError) {
        try await store.put(name(key), body, within: limit)
    }

    package func delete(_ keys: [String], within limit: Duration) async throws(ObjectStorageError) {
        let names = try keys.map { key throws(ObjectStorageError) in try ObjectKey(folder + key) }
        if let failure = try await store.delete(names, in: bucket, within: limit).first { throw failure.error }
    }

    package func list(
        _ prefix: String, after: String?, maxKeys: Int, within limit: Duration
    ) async throws(ObjectStorageError) -> [String] {
        let start = try after.map { text throws(ObjectStorageError) in try ObjectKey(folder + text) }
        let keys = try await store.list(
            bucket, prefix: folder + prefix, startAfter: start, maxObjects: maxKeys, within: limit)
        return keys.map { String($0.description.dropFirst(folder.count)) }
    }

    private func name(_ key: String) throws(ObjectStorageError) -> ObjectName {
        ObjectName(bucket: bucket, key: try ObjectKey(folder + key))
    }
}
