import DarkroomTestClock
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

/// Entries without a body, which are rows of the index, and their copies in the files of others.
@Suite struct DiskRowTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    /// What is known of a source.
    private static func known(_ text: String, labels: [String] = ["host:a"]) -> StoredEntry {
        StoredEntry(body: ByteBuffer(), metadata: ByteBuffer(string: text), labels: labels)
    }

    private let known = key(1, 100)

    /// An entry whose file carries a copy of what is known.
    private func carrier(_ text: String) -> StoredEntry {
        var entry = entry()
        entry.companion = StoredEntry.Companion(Self.known(text), for: known.entry)
        return entry
    }

    @Test func `An entry without a body has no file, and is found after the store is opened again`() async throws {
        var store = try await fixture.open()
        store.store(Self.known("one"), for: known)
        await store.close()
        store = try await fixture.open()
        let found = try #require(await store.entry(for: known))
        #expect(found == Self.known("one"))
        #expect(!found.isRestored)
        #expect(await store.sources(matching: .equal("host:a")) == [known.source])
        #expect(fixture.folder.files(below: "entries") == [])
        #expect(store.statistics.bytes == 0, "it takes space in the index alone")
    }

    @Test func `An entry without a body but with much metadata has a file`() async throws {
        let store = try await fixture.open()
        let large = Self.known(String(repeating: "x", count: 40_000))
        #expect(await store.storeAndWait(large, for: known))
        #expect(await store.entry(for: known) == large)
        #expect(fixture.folder.files(below: "entries").count == 1)
        #expect(await store.storeAndWait(Self.known("small"), for: known))
        #expect(await store.entry(for: known) == Self.known("small"))
        #expect(fixture.folder.files(below: "entries") == [])
    }

    @Test func `A row whose content is corrupt is a miss, and is removed and counted`() async throws {
        let store = try await fixture.openHealed()
        #expect(await store.storeAndWait(Self.known("one"), for: known))
        try fixture.execute("UPDATE entry SET content = CAST('two' AS BLOB)")
        #expect(await store.entry(for: known) == nil)
        #expect(store.statistics.corrupt == 1)
        #expect(store.statistics.entries == 0)
    }

    @Test func `If the index is lost, the newest copy in a file is restored and marked as such`() async throws {
        var store = try await fixture.open()
        for number in 1...5 {
            fixture.clock.advance(by: .seconds(1))
            store.store(carrier("version \(number == 5 ? 3 : number)"), for: key(1, number))
            await store.flush()
        }
        fixture.clock.advance(by: .seconds(1))
        store.store(carrier("version 6"), for: key(1, 1))
        store.store(Self.known("version 7"), for: known)
        await store.close()
        try fixture.folder.remove("index.sqlite")
        store = try await fixture.openHealed()
        let found = try #require(await store.entry(for: known))
        #expect(found.isRestored)
        #expect(found.metadata == ByteBuffer(string: "version 6"))
        #expect(found.labels == ["host:a"])
        #expect(await store.sources(matching: .equal("host:a")) == [known.source])
        #expect(store.statistics.entries == 6)

        #expect(await store.storeAndWait(Self.known("version 8"), for: known))
        #expect(try #require(await store.entry(for: known)).isRestored == false)
        #expect(store.statistics.entries == 6)
    }

    @Test func `A copy in an adopted file does not replace what the index has`() async throws {
        var store = try await fixture.open()
        #expect(await store.storeAndWait(Self.known("current"), for: known))
        fixture.clock.advance(by: .seconds(1))
        store.store(carrier("old"), for: key(1, 1))
        await store.close()
        try fixture.execute("DELETE FROM entry WHERE content IS NULL; UPDATE state SET is_closed = 0")
        store = try await fixture.openHealed()
        #expect(await store.entry(for: key(1, 1)) == entry())
        let found = try #require(await store.entry(for: known))
        #expect(found == Self.known("current"))
        #expect(!found.isRestored)
    }

    @Test func `A corrupt copy is not restored`() async throws {
        var store = try await fixture.open()
        store.store(carrier("what is known"), for: key(1, 1))
        await store.close()
        let file = DiskFixture.file(of: key(1, 1))
        var bytes = try fixture.folder.bytes(file)
        let place = try #require(bytes.range(of: Data("what is known".utf8)))
        bytes[place.lowerBound] ^= 1
        try fixture.folder.write(bytes, to: file)
        try fixture.folder.remove("index.sqlite")
        store = try await fixture.openHealed()
        #expect(store.statistics.entries == 1)
        #expect(await store.entry(for: known) == nil)
        #expect(await store.entry(for: key(1, 1)) == nil)
        #expect(store.statistics.corrupt == 1)
    }

    @Test func `A file for the key of a row without a file is removed when they are compared`() async throws {
        var store = try await fixture.open()
        #expect(await store.storeAndWait(entry(), for: known))
        let old = try fixture.folder.bytes(DiskFixture.file(of: known))
        #expect(await store.storeAndWait(Self.known("new"), for: known))
        await store.close()
        try fixture.folder.write(old, to: DiskFixture.file(of: known))
        try fixture.forgetClosing()
        store = try await fixture.openHealed()
        #expect(await store.entry(for: known) == Self.known("new"))
        #expect(fixture.folder.files(below: "entries") == [])
        #expect(store.statistics.entries == 1)
    }
}
