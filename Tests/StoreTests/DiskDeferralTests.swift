import DarkroomTestClock
import DarkroomTestLogs
import Foundation
import NIOCore
import Synchronization
import Testing

@testable import DarkroomStore

/// Large bodies that stay on disk until they are sent.
@Suite struct DiskDeferralTests {
    private static let largeBytes = 700_000
    private let fixture: DiskFixture

    init() throws { fixture = try DiskFixture(budgetBytes: 8 << 20) }

    private var large: StoredEntry {
        var bytes = ByteBuffer()
        for number in 0..<Self.largeBytes / 4 { bytes.writeInteger(UInt32(number)) }
        return StoredEntry(body: bytes, metadata: ByteBuffer(string: "notes"), labels: ["label"])
    }

    /// A store with a large entry that was written long ago.
    private func fill() async throws -> DiskStore {
        let store = try await fixture.openHealed()
        fixture.clock.setDate(ahead: 1e9)
        store.store(large, for: key(1))
        await store.flush()
        return store
    }

    private func look(_ store: DiskStore) async -> StoredEntry? {
        await withCheckedContinuation { continuation in
            store.lookDeferring(for: [key(1)]) { continuation.resume(returning: $0.first) }
        }
    }

    private func bytes(of body: StoredBody) async -> ByteBuffer? {
        var bytes = ByteBuffer()
        while bytes.readableBytes < body.count {
            guard let piece = await body.piece(at: bytes.readableBytes) else { return nil }
            #expect(piece.readableBytes <= StoredBody.pieceBytes)
            bytes.writeImmutableBuffer(piece)
        }
        return bytes
    }

    @Test func `A large body is verified, stays on disk, and is read in pieces`() async throws {
        let store = try await fill()
        for _ in 1...3 {
            let found = try #require(await look(store))
            #expect(found.body.readableBytes == 0)
            #expect(found.metadata == large.metadata)
            #expect(found.labels == large.labels)
            let body = try #require(found.deferredBody)
            #expect(body.count == Self.largeBytes)
            #expect(await bytes(of: body) == large.body)
            #expect(await body.bytes() == large.body)
        }
        #expect(store.statistics.hits == 3)
    }

    @Test func `The second lookup of a large body needs no reader thread, and none reads it whole`() async throws {
        let store = try await fill()
        let first = try #require(await look(store))
        let found = Mutex<StoredEntry?>(nil)
        store.lookDeferring(for: [key(1)]) { entries in found.withLock { $0 = entries.first } }
        #expect(found.withLock { $0?.deferredBody?.count } == first.deferredBody?.count)
        #expect(store.entriesAtOnce(for: [key(1)]) == nil)
    }

    @Test func `Lookups that do not defer have the body`() async throws {
        let store = try await fill()
        for _ in 1...2 {
            #expect(await store.entry(for: key(1)) == large)
            #expect(await store.peek(key(1)) == large)
            _ = await look(store)
        }
    }

    @Test func `A small body is not deferred`() async throws {
        let store = try await fixture.openHealed()
        store.store(entry(1000), for: key(1))
        await store.flush()
        for _ in 1...2 { #expect(await look(store) == entry(1000)) }
    }

    @Test func `A body can be read to its end after its entry was removed or replaced`() async throws {
        let store = try await fill()
        let first = try #require(await look(store)?.deferredBody)
        await store.remove(key(1))
        #expect(await look(store) == nil)
        #expect(await bytes(of: first) == large.body)
        #expect(await store.storeAndWait(large, for: key(1)))
        let second = try #require(await look(store)?.deferredBody)
        #expect(await store.storeAndWait(entry(400_000), for: key(1)))
        #expect(await bytes(of: second) == large.body)
    }

    @Test(arguments: [false, true])
    func `A large body that is damaged is a miss, whether or not it was read before`(wasRead: Bool) async throws {
        let store = try await fill()
        if wasRead { #expect(await look(store) != nil) }
        try damage(byteAt: 600_000)
        #expect(await look(store) == nil)
        #expect(store.statistics.corrupt == 1)
        #expect(store.statistics.entries == 0)
    }

    @Test func `A file that is damaged while it is sent yields no further piece`() async throws {
        let store = try await fill()
        let body = try #require(await look(store)?.deferredBody)
        #expect(await body.piece(at: 0) != nil)
        try damage(byteAt: 600_000)
        #expect(await body.piece(at: 500_000) == nil)
    }

    @Test func `A body cannot be read once its store is closed`() async throws {
        let store = try await fill()
        let body = try #require(await look(store)?.deferredBody)
        await store.close()
        #expect(await body.piece(at: 0) == nil)
    }

    private func damage(byteAt offset: UInt64) throws {
        let path = fixture.folder(DiskFixture.file(of: key(1)))
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.seek(toOffset: offset)
        try handle.write(contentsOf: Data([0xEE]))
        try handle.close()
    }
}
