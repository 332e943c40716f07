import DarkroomTestClock
import NIOCore
import Testing

@testable import DarkroomStore

/// Finding sources by their entries' labels.
@Suite struct DiskLabelTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    private func sources(_ query: LabelFilter, in store: DiskStore) async -> Set<StoreKey> {
        let found = await store.sources(matching: query)
        #expect(Set(found).count == found.count, "each source is named once")
        return Set(found)
    }

    private func source(_ numbers: Int...) -> Set<StoreKey> { Set(numbers.map { key($0).source }) }

    @Test func `A source is found by a label of any of its entries, by the start of one, and among all`() async throws {
        let store = try await fixture.open()
        store.store(entry(labels: ["url:https://a.example/1", "host:a.example"]), for: key(1, 1))
        store.store(entry(labels: ["tag:shoes", "host:a.example"]), for: key(1, 2))
        store.store(entry(labels: ["url:https://a.example/2", "host:a.example"]), for: key(2))
        store.store(entry(labels: ["host:b.example"]), for: key(3))
        store.store(entry(), for: key(4))
        #expect(await sources(.equal("host:a.example"), in: store) == source(1, 2))
        #expect(await sources(.equal("tag:shoes"), in: store) == source(1))
        #expect(await sources(.equal("host:a.exampl"), in: store) == [])
        #expect(await sources(.prefix("url:https://a.example/"), in: store) == source(1, 2))
        #expect(await sources(.prefix("url:https://a.example/2"), in: store) == source(2))
        #expect(await sources(.prefix("host:"), in: store) == source(1, 2, 3))
        #expect(await sources(.prefix(""), in: store) == source(1, 2, 3))
        #expect(await sources(.all, in: store) == source(1, 2, 3, 4))
    }

    @Test(arguments: ["tag:50%", "tag:_", "tag:'; DROP TABLE entry", "tag:\u{0}x", "tag:\u{10FFFF}", "tag:é", ""])
    func `Labels are only bytes to the index`(label: String) async throws {
        let store = try await fixture.open()
        store.store(entry(labels: [label]), for: key(1))
        store.store(entry(labels: ["tag:other", "tag:500"]), for: key(2))
        #expect(await sources(.equal(label), in: store) == source(1))
        #expect(await sources(.prefix(label), in: store) == (label.isEmpty ? source(1, 2) : source(1)))
        #expect(await store.entry(for: key(1)) == entry(labels: [label]))
    }

    @Test func `Labels that look the same but have other bytes are different`() async throws {
        let store = try await fixture.open()
        store.store(entry(labels: ["tag:e\u{301}"]), for: key(1))
        #expect(await sources(.equal("tag:\u{E9}"), in: store) == [])
        #expect(await sources(.equal("tag:e\u{301}"), in: store) == source(1))
    }

    @Test func `A label is removed with the last entry of the source that has it`() async throws {
        let store = try await fixture.open()
        for number in 1...3 { store.store(entry(labels: ["host:a", "entry:\(number)"]), for: key(1, number)) }
        store.store(entry(labels: ["host:a"]), for: key(2))
        await store.remove(key(1, 1))
        #expect(await sources(.equal("entry:1"), in: store) == [])
        #expect(await sources(.equal("host:a"), in: store) == source(1, 2))
        // With other labels.
        store.store(entry(labels: ["host:b"]), for: key(1, 2))
        #expect(await sources(.equal("entry:2"), in: store) == [])
        #expect(await sources(.equal("host:a"), in: store) == source(1, 2))
        await store.remove(key(1, 3))
        #expect(await sources(.equal("host:a"), in: store) == source(2))
        await store.removeAll(ofSources: [key(2).source])
        #expect(await sources(.equal("host:a"), in: store) == [])
        #expect(await sources(.equal("host:b"), in: store) == source(1))
        await store.removeEverything()
        #expect(await sources(.prefix(""), in: store) == [])
        #expect(await sources(.all, in: store) == [])
    }

    @Test func `Writing an entry again with its labels counts them once`() async throws {
        let store = try await fixture.open()
        for _ in 1...3 {
            store.store(entry(labels: ["host:a", "host:a"]), for: key(1))
            await store.flush()
        }
        await store.remove(key(1))
        #expect(await sources(.equal("host:a"), in: store) == [])
    }

    @Test func `Labels are counted alike for entries written together and one by one`() async throws {
        let store = try await fixture.open()
        for number in 1...3 { store.store(entry(labels: ["host:a"]), for: key(1, number)) }
        store.store(entry(labels: ["host:a", "tag:x"]), for: key(1, 4))
        await store.flush()
        for number in 1...3 { store.store(entry(labels: ["tag:x"]), for: key(1, number)) }
        await store.flush()
        #expect(await sources(.equal("host:a"), in: store) == source(1))
        await store.remove(key(1, 4))
        #expect(await sources(.equal("host:a"), in: store) == [])
        for number in 1...3 {
            #expect(await sources(.equal("tag:x"), in: store) == source(1))
            await store.remove(key(1, number))
        }
        #expect(await sources(.equal("tag:x"), in: store) == [])
    }

    @Test func `An evicted entry's labels go with it`() async throws {
        let store = try await fixture.open { $0.budgetBytes = 200_000 }
        for number in 1...40 {
            fixture.clock.advance(by: .seconds(1))
            store.store(entry(labels: ["entry:\(number)"]), for: key(number))
            await store.flush()
        }
        #expect(store.statistics.evictions > 0)
        #expect(await sources(.equal("entry:1"), in: store) == [])
        #expect(await sources(.prefix("entry:"), in: store).count == store.statistics.entries)
    }

    @Test func `A search includes the writes queued before, and waits for a lost index`() async throws {
        var store = try await fixture.open()
        for number in 1...9 { store.store(entry(labels: ["host:a"]), for: key(number)) }
        #expect(await sources(.equal("host:a"), in: store).count == 9)
        await store.close()
        try fixture.folder.remove("index.sqlite")
        store = try await fixture.open()
        #expect(await sources(.equal("host:a"), in: store).count == 9)
    }

    @Test func `An entry may have 160 labels of 8 KiB, and is refused with more`() async throws {
        let fixture = try DiskFixture(budgetBytes: 1 << 30)
        let store = try await fixture.open()
        let longest = (0..<160).map { "\($0):" + String(repeating: "x", count: 8192 - "\($0):".count) }
        #expect(await store.storeAndWait(entry(labels: longest), for: key(1)))
        #expect(await store.entry(for: key(1)) == entry(labels: longest))
        #expect(await sources(.equal(longest[159]), in: store) == source(1))
        #expect(!store.store(entry(labels: longest + ["one more"]), for: key(2)))
        #expect(!store.store(entry(labels: [longest[0] + "x"]), for: key(2)))
        #expect(await !store.storeAndWait(entry(labels: [longest[0] + "x"]), for: key(2)))
        #expect(store.statistics.droppedWrites == 3)
        #expect(store.statistics.queuedWrites == 0)
        await store.close()
        try fixture.folder.remove("index.sqlite")
        let next = try await fixture.open()
        #expect(await sources(.equal(longest[159]), in: next) == source(1), "the longest list is taken back too")
    }

    @Test func `A filter matches labels by their bytes, and all entries without one`() {
        #expect(LabelFilter.equal("host:a").matches(["tag:x", "host:a"]))
        #expect(!LabelFilter.equal("host:").matches(["host:a"]))
        #expect(!LabelFilter.equal("tag:\u{E9}").matches(["tag:e\u{301}"]))
        #expect(LabelFilter.prefix("host:").matches(["tag:x", "host:a"]))
        #expect(!LabelFilter.prefix("host:a").matches(["host:"]))
        #expect(!LabelFilter.prefix("").matches([]))
        #expect(LabelFilter.all.matches([]))
    }

    @Test(arguments: [[0], [0, 1], [0, 2, 0x61], [0, 1, 0xFF], [0xFF, 0xFF], [0, 0, 0]] as [[UInt8]])
    func `Malformed bytes are no labels`(bytes: [UInt8]) {
        #expect(EntryLabels(bytes: bytes) == nil)
    }
}
