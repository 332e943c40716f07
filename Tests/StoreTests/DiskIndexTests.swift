import DarkroomTestClock
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

@Suite struct DiskIndexTests {
    let fixture: DiskFixture
    let index: DiskIndex

    init() throws {
        let fixture = try DiskFixture()
        self.fixture = fixture
        index = try DiskIndex(path: DiskLayout(fixture.folder.path).index) { last in
            MonotonicClock(now: fixture.clock.date, last: last, uptime: { .zero })
        }
    }

    private func insert(_ keys: [EntryKey]) throws {
        let headers = keys.map { EntryHeader(of: entry(), labels: .none, key: $0, created: 0, modified: 0) }
        _ = try index.apply(puts: headers.map(\.record))
    }

    @Test func `Rows have the order of the keys, up to the first key without a row`() throws {
        try insert([key(1, 1), key(1, 2), key(1, 3), key(2, 4)])
        for numbers in [[1, 2, 3], [3, 1, 2], [2, 4, 1], [4, 1], []] {
            let keys = numbers.map { key(1, $0) }
            #expect(try index.rows(for: keys).map(\.record.key) == Array(keys.prefix { $0 != key(1, 4) }))
        }
        index.close()
    }

    @Test func `Lookups fail once the index is closed`() throws {
        try insert([key(1)])
        #expect(try index.rows(for: [key(1)]).count == 1)
        index.close()
        #expect(throws: StorageError.self) { try index.rows(for: [key(1)]) }
    }

    @Test(.enabled(if: LookupConnection.canReadAtOnce))
    func `Lookups go on although no connection can be opened for lookups at once`() throws {
        try insert([key(1)])
        #expect(try index.rows(for: [key(1)]).count == 1)
        #expect(index.rowsAtOnce(for: [key(1)]) == nil)
        try FileManager.default.moveItem(
            atPath: fixture.folder("index.sqlite"), toPath: fixture.folder("elsewhere.sqlite"))
        for _ in 1...2 { #expect(try index.rows(for: [key(1)]).count == 1) }
        index.abandon()
    }

    @Test func `Last uses are written in several transactions`() throws {
        let keys = (0..<2500).map { key($0) }
        try insert(keys)
        let uses = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, Int64($0 + 1)) })
        try index.setLastUses(uses)
        for key in keys { #expect(try index.rows(for: [key]).first?.lastUse == uses[key]) }
        index.close()
    }

    @Test func `A removed entry leaves no use behind`() throws {
        let keys = (0..<3).map { key(1, $0) }
        func laterUses() throws -> [Int64?] { try index.leastRecentlyUsed(limit: 10).map(\.laterUse) }
        let uses = Dictionary(uniqueKeysWithValues: keys.map { ($0, Int64(5)) })
        for remove in [
            { _ = try index.apply(deletes: keys) }, { _ = try index.deleteAll(ofSources: [keys[0].source]) },
            { _ = try index.deleteEverything() },
        ] as [() throws -> Void] {
            try insert(keys)
            #expect(try laterUses() == [nil, nil, nil])
            try index.recordUses(uses)
            #expect(try laterUses() == [5, 5, 5])
            try remove()
        }
        try insert(keys)
        #expect(try laterUses() == [nil, nil, nil])
        index.close()
    }

    @Test func `An entry without a file counts as used with each entry of its source`() throws {
        try insert([key(1, 1), key(2, 1)])
        var record = EntryHeader(of: entry(), labels: .none, key: key(1, 2), created: 0, modified: 0).record
        record.content = ByteBuffer(string: "notes")
        _ = try index.apply(puts: [record])
        try index.recordUses([key(1, 1): 5, key(2, 1): 9])
        let found = try index.leastRecentlyUsed(limit: 10)
        #expect(found.count == 3)
        #expect(found.first { $0.key == key(1, 2) }?.laterUse == 5)
        index.close()
    }

    #if os(Linux)
        @Test func `The removal of many sources writes each page of the index once, not once for each row`()
            throws
        {
            let keys = (0..<4000).map { key($0) }
            let records = try keys.enumerated().map { number, key in
                let labels = try #require(EntryLabels(["url:http://example.com/\(number).jpg", "host:example.com"]))
                return EntryHeader(of: entry(), labels: labels, key: key, created: 0, modified: 0).record
            }
            _ = try index.apply(puts: records)
            // The order of the last uses differs from the order of the keys, which are hashes.
            try index.setLastUses(Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, Int64($0 + 1)) }))
            try index.truncateLog()
            let size = try index.measure().usedBytes
            let second = stride(from: 0, to: keys.count, by: 2).map { keys[$0] }
            let before = try bytesWritten()
            let removed = try index.deleteAll(ofSources: second.map(\.source).sorted())
            let written = try bytesWritten() - before
            #expect(removed.entries == -2000)
            // Each page is written to the log once.
            #expect(written > 0 && written < 2 * size, "\(written) bytes for an index of \(size)")
            index.close()
        }

        /// What this thread has written; changes of the index are made on the thread that asks for them.
        private func bytesWritten() throws -> Int {
            let counts = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
            let line = counts.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
            return line.flatMap { Int($0.dropFirst("wchar: ".count)) } ?? 0
        }
    #endif
}
