package import DarkroomObjectStorage
package import NIOCore

/// The purges of all servers, in the shared tier: one small object each, named by the time of the purge.
package struct PurgeLog: Sendable {
    private let store: SharedStore

    /// The log in this store.
    package init(_ store: SharedStore) {
        self.store = store
    }

    /// The name of a purge.
    package struct Name: Hashable, Comparable, Sendable {
        /// The time of the purge in milliseconds since 1970, by the purging server's idea of the store's time.
        package let time: Int64
        /// Whether the purge also applies to entries that are stored later by servers that have not read it yet,
        /// because its sources are not listed one by one. Such a purge is kept as long as objects are.
        package let isLasting: Bool
        fileprivate let number: UInt64

        /// A new name.
        package init(time: Int64, isLasting: Bool) {
            self.time = max(time, 0)
            self.isLasting = isLasting
            number = .random(in: 0 ... .max)
        }

        fileprivate init?(_ name: String) {
            guard name.hasPrefix(SharedName.purges) else { return nil }
            let parts = name.dropFirst(SharedName.purges.count).split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0].utf8.count == 16, parts[1].utf8.count == 16,
                let time = Int64(parts[0], radix: 16), SharedObject.times.contains(time),
                let number = UInt64(parts[1], radix: 16),
                ["l", "s"].contains(parts[2])
            else { return nil }
            (self.time, self.number, isLasting) = (time, number, parts[2] == "l")
        }

        /// Reads what ``write(to:)`` wrote; nil if there is no name.
        package init?(readingFrom bytes: inout ByteBuffer) {
            guard let time = bytes.readInteger(as: Int64.self), SharedObject.times.contains(time),
                let number = bytes.readInteger(as: UInt64.self), let isLasting = bytes.readInteger(as: UInt8.self)
            else { return nil }
            (self.time, self.number, self.isLasting) = (time, number, isLasting != 0)
        }

        /// Writes 17 bytes.
        package func write(to bytes: inout ByteBuffer) {
            bytes.writeInteger(time)
            bytes.writeInteger(number)
            bytes.writeInteger(UInt8(isLasting ? 1 : 0))
        }

        fileprivate var text: String {
            let digits = RecordVersion.digits
            return "\(SharedName.purges)\(digits(UInt64(time)))-\(digits(number))-\(isLasting ? "l" : "s")"
        }

        /// Protects a purge from being copied to another name.
        fileprivate var key: EntryKey {
            let key = StoreKey(hashing: text.utf8)
            return EntryKey(source: key, entry: key)
        }

        package static func < (left: Name, right: Name) -> Bool {
            (left.time, left.number) < (right.time, right.number)
        }
    }

    /// Appends a purge.
    package func append(
        _ purge: ByteBuffer, as name: Name, within limit: Duration
    ) async throws(ObjectStorageError) {
        let head = SharedObject.Head(
            kind: .purge, key: name.key, writtenAt: name.time,
            record: SharedRecord(order: name.time, metadata: ByteBuffer()), metadata: purge,
            bodyDigest: StoreKey(hashing: []))
        try await store.bucket.write(name.text, SharedObject.encode(head, ByteBuffer()), within: limit)
    }

    /// The purges since this time, oldest first; nil = all. Purges from the future are left out: no server can have
    /// written them.
    package func names(since time: Int64?, within limit: Duration) async throws(ObjectStorageError) -> [Name] {
        let start = time.map { SharedName.purges + RecordVersion.digits(UInt64(max($0, 0))) }
        let names = try await store.bucket.list(
            SharedName.purges, after: start, maxKeys: Self.maxPurges, within: limit)
        let latest = store.milliseconds + SharedObject.clockTolerance
        return names.compactMap { Name($0) }.filter { $0.time <= latest }
    }

    /// The maximum number of purges that are read in one listing. Old purges are deleted, so the log is expected to
    /// stay shorter.
    package static let maxPurges = 100_000

    /// The stored content of a purge; nil if it is gone or corrupt.
    package func purge(_ name: Name, within limit: Duration) async throws(ObjectStorageError) -> ByteBuffer? {
        try await store.object(name.text, .purge, name.key, limit)?.head.metadata
    }

    /// Deletes purges that no server needs any more.
    package func delete(_ names: [Name], within limit: Duration) async throws(ObjectStorageError) {
        if !names.isEmpty { try await store.bucket.delete(names.map(\.text), within: limit) }
    }
}
