import DarkroomMachine
package import DarkroomObjectStorage
package import NIOCore

/// The purges of all servers, in the shared tier: one small object each, named by the time of the purge. Beside them,
/// summaries of them, named by the time until which they are complete.
package struct PurgeLog: Sendable {
    private let store: SharedStore
    private let maxNames: Int

    /// The log in this store.
    ///
    /// - Parameter maxNames: the most purges that are read in one listing, the oldest.
    package init(_ store: SharedStore, maxNames: Int = 100_000) {
        self.store = store
        self.maxNames = maxNames
    }

    package struct Name: Hashable, Comparable, Sendable {
        /// The time of the purge in milliseconds since 1970, by the purging server's idea of the store's time.
        package let time: Int64
        /// Whether the purge also applies to entries that are stored later by servers that have not read it yet,
        /// because its sources are not listed one by one. Such a purge is kept as long as objects are.
        package let isLasting: Bool
        fileprivate let number: UInt64

        package init(time: Int64, isLasting: Bool) {
            self.time = max(time, 0)
            self.isLasting = isLasting
            number = .random(in: 0 ... .max)
        }

        fileprivate init?(_ name: String, in folder: String) {
            guard name.hasPrefix(folder) else { return nil }
            let parts = name.dropFirst(folder.count).split(separator: "-", omittingEmptySubsequences: false)
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

        fileprivate func text(in folder: String) -> String {
            let digits = RecordVersion.digits
            return "\(folder)\(digits(UInt64(time)))-\(digits(number))-\(isLasting ? "l" : "s")"
        }

        /// Protects a purge from being copied to another name.
        fileprivate func key(in folder: String) -> EntryKey {
            let key = StoreKey(hashing: text(in: folder).utf8)
            return EntryKey(source: key, entry: key)
        }

        package static func < (left: Name, right: Name) -> Bool {
            (left.time, left.number) < (right.time, right.number)
        }
    }

    // MARK: Purges

    package func append(
        _ purge: ByteBuffer, as name: Name, within limit: Duration
    ) async throws(ObjectStorageError) {
        try await write(name, in: SharedName.purges, metadata: purge, within: limit)
    }

    /// The purges since this time, oldest first; nil = all. Purges from the future are left out: no server can have
    /// written them.
    ///
    /// - Parameters:
    ///   - limit: the time for each five thousand names.
    ///   - needsMore: receives each five thousand names, and says whether the names after them matter. Default: all do.
    /// - Returns: the names, and whether there are no more.
    package func names(
        since time: Int64?, within limit: Duration, while needsMore: ([Name]) -> Bool = { _ in true }
    ) async throws(ObjectStorageError) -> (names: [Name], isComplete: Bool) {
        let start = time.map { SharedName.purges + RecordVersion.digits(UInt64(max($0, 0))) }
        return try await list(SharedName.purges, after: start, within: limit, while: needsMore)
    }

    /// The latest time that a server may have written by now.
    package var latestTime: Int64 { store.milliseconds + SharedObject.clockTolerance }

    /// The stored content of a purge; nil if it is gone or corrupt.
    package func purge(_ name: Name, within limit: Duration) async throws(ObjectStorageError) -> ByteBuffer? {
        try await read(name, in: SharedName.purges, within: limit)?.head.metadata
    }

    package typealias ReadResult = Result<ByteBuffer?, ObjectStorageError>

    /// The content of a purge, or the last error, after some attempts. A purge that cannot be read then counts as a
    /// purge of everything.
    ///
    /// - Parameter limit: the time for all attempts.
    package func read(_ name: Name, within limit: Duration) async -> ReadResult {
        let end = store.instant() + limit
        var result = ReadResult.success(nil)
        for _ in 0..<Self.maxReads {
            do throws(ObjectStorageError) {
                result = .success(try await purge(name, within: store.instant().duration(to: end)))
            } catch {
                result = .failure(error)
            }
            if case .success(.some) = result { break }
        }
        return result
    }

    private static let maxReads = 10

    /// Deletes purges that no server needs any more.
    package func delete(_ names: [Name], within limit: Duration) async throws(ObjectStorageError) {
        try await delete(names, in: SharedName.purges, within: limit)
    }

    // MARK: Summaries

    /// Adds a summary of the purges until this time.
    package func append(
        summary: ByteBuffer, until time: Int64, within limit: Duration
    ) async throws(ObjectStorageError) {
        let name = Name(time: time, isLasting: true)
        try await write(name, in: SharedName.summaries, body: summary, within: limit)
    }

    /// The summaries, oldest first.
    package func summaries(within limit: Duration) async throws(ObjectStorageError) -> [Name] {
        try await list(SharedName.summaries, after: nil, within: limit).names
    }

    /// The stored content of a summary; nil if it is gone or corrupt.
    package func summary(_ name: Name, within limit: Duration) async throws(ObjectStorageError) -> ByteBuffer? {
        try await read(name, in: SharedName.summaries, within: limit)?.body.buffer
    }

    package func delete(summaries names: [Name], within limit: Duration) async throws(ObjectStorageError) {
        try await delete(names, in: SharedName.summaries, within: limit)
    }

    // MARK: Objects

    private func write(
        _ name: Name, in folder: String, metadata: ByteBuffer = ByteBuffer(), body: ByteBuffer = ByteBuffer(),
        within limit: Duration
    ) async throws(ObjectStorageError) {
        let head = SharedObject.Head(
            kind: .purge, key: name.key(in: folder), writtenAt: name.time,
            record: SharedRecord(order: name.time, metadata: ByteBuffer()), metadata: metadata,
            bodyBytes: body.readableBytes, bodyDigest: StoreKey(hashing: body.readableBytesView))
        try await store.bucket.write(name.text(in: folder), SharedObject.encode(head, body), within: limit)
    }

    private func list(
        _ folder: String, after start: String?, within limit: Duration,
        while needsMore: ([Name]) -> Bool = { _ in true }
    ) async throws(ObjectStorageError) -> (names: [Name], isComplete: Bool) {
        var names: [Name] = []
        var (last, listed, isComplete) = (start, 0, false)
        while !isComplete, listed < maxNames {
            let count = min(Self.listedAtOnce, maxNames - listed)
            let next = try await store.bucket.list(folder, after: last, maxKeys: count, within: limit)
            (last, listed, isComplete) = (next.last ?? last, listed + next.count, next.count < count)
            let latest = latestTime
            let found = next.compactMap { Name($0, in: folder) }.filter { $0.time <= latest }
            names += found
            guard needsMore(found) else { break }
        }
        return (names, isComplete)
    }

    /// So few that a slow store lists them in time.
    private static let listedAtOnce = 5_000

    private func read(
        _ name: Name, in folder: String, within limit: Duration
    ) async throws(ObjectStorageError) -> SharedObject? {
        try await store.object(name.text(in: folder), .purge, name.key(in: folder), limit)
    }

    private func delete(_ names: [Name], in folder: String, within limit: Duration) async throws(ObjectStorageError) {
        if names.isEmpty { return }
        try await store.bucket.delete(names.map { $0.text(in: folder) }, within: limit)
    }
}
