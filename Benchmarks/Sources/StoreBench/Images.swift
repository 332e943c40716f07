import DarkroomStore
import Foundation
import NIOCore

/// The processor time to write and to look up images as the pipeline does: an original, a record and a variant.
struct Images {
    let entries: Int
    let folder: String

    init(_ arguments: Arguments, entries: Int) {
        self.entries = arguments.entries ?? entries
        folder = arguments.folder + "/store-bench-\(getpid())"
    }

    func run() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try await open(folder)
        await measure("write of an image", entries) {
            for number in 0..<entries {
                for (key, entry) in image(number) {
                    while !store.store(entry, for: key) { await store.flush() }
                }
            }
            await store.flush()
        }
        await measure("first lookup of record and variant", entries) {
            for number in 0..<entries { await look(number, in: store) }
        }
        // As many as the files that stay open.
        let few = min(100, entries)
        for number in 0..<few { await look(number, in: store) }
        await measure("lookup of record and variant that were read before", 1000 * few) {
            for number in 0..<(1000 * few) { await look(number % few, in: store) }
        }
        report("lookups that missed", Double(store.statistics.misses), "")
        await store.close()
    }

    private func measure(_ name: String, _ count: Int, _ work: () async -> Void) async {
        let before = processorSeconds()
        await work()
        let after = processorSeconds()
        report("\(name), in the program", (after.user - before.user) / Double(count) * 1e6, "us")
        report("\(name), in the system", (after.system - before.system) / Double(count) * 1e6, "us")
    }

    private func look(_ number: Int, in store: DiskStore) async {
        let keys = [key(number, "record"), key(number, "variant")]
        await withCheckedContinuation { continuation in store.look(for: keys) { _ in continuation.resume() } }
    }

    private func image(_ number: Int) -> [(EntryKey, StoredEntry)] {
        let record = StoredEntry(
            body: ByteBuffer(), metadata: ByteBuffer(repeating: 1, count: 500),
            labels: ["url:https://example.com/\(number)/picture.jpg", "host:example.com"])
        return [("original", 100_000), ("record", 0), ("variant", 20_000)].map { name, bytes in
            guard bytes > 0 else { return (key(number, name), record) }
            var entry = StoredEntry(
                body: ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: bytes),
                metadata: ByteBuffer(repeating: 1, count: 120))
            entry.companion = StoredEntry.Companion(record, for: key(number, "record").entry)
            return (key(number, name), entry)
        }
    }

    private func key(_ number: Int, _ name: String) -> EntryKey {
        EntryKey(
            source: StoreKey(hashing: "source \(number)".utf8), entry: StoreKey(hashing: "\(name) \(number)".utf8))
    }
}
