import Crypto
import DarkroomStore
import Foundation
import NIOCore

/// What it costs to write entries of 1 MB.
struct Originals {
    private static let bodyBytes = 1_000_000

    let entries: Int
    let folder: String

    init(_ arguments: Arguments, entries: Int) {
        self.entries = arguments.entries ?? entries
        folder = arguments.folder + "/store-bench-\(getpid())"
    }

    func run() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let body = ByteBuffer(bytes: (0..<Self.bodyBytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 7) })
        await measureHash(body)
        let store = try await open(folder)
        try await measureWrites(body, "first time", store)
        try await measureWrites(body, "in place of others", store)
        await store.close()
    }

    private func measureHash(_ body: ByteBuffer) async {
        let rounds = 200
        var sum = 0
        let time = await seconds {
            for _ in 0..<rounds {
                var hasher = SHA256()
                body.withUnsafeReadableBytes { hasher.update(bufferPointer: $0) }
                sum += hasher.finalize().hashValue & 1
            }
        }
        report("SHA-256", time / Double(rounds) * 1000, "ms/MB (\(sum > 0 ? "used" : "unused"))")
    }

    private func measureWrites(_ body: ByteBuffer, _ name: String, _ store: DiskStore) async throws {
        let before = processorSeconds()
        let time = await seconds {
            for number in 0..<entries {
                let key = EntryKey(
                    source: StoreKey(hashing: "source \(number)".utf8), entry: StoreKey(hashing: "entry \(number)".utf8)
                )
                while !store.store(StoredEntry(body: body), for: key) { await store.flush() }
            }
            await store.flush()
        }
        let after = processorSeconds()
        let count = Double(entries)
        report("1 MB writes \(name)", time / count * 1000, "ms each")
        report(
            "1 MB writes \(name), processor time in the program", (after.user - before.user) / count * 1000, "ms each")
        report(
            "1 MB writes \(name), processor time in the system", (after.system - before.system) / count * 1000,
            "ms each")
    }
}
