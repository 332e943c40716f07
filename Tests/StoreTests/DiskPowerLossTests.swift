import DarkroomTestLogs
import DarkroomTestRandom
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

/// What a power failure leaves of a cache directory whose files are not synced: a recorded sequence of writes is cut at
/// every point, and each file is left in each state that a file system may choose. Every such directory must open, and
/// nothing but an entry that was stored may be found in it.
@Suite struct DiskPowerLossTests {
    /// The contents of a cache directory, by file name.
    typealias Files = [String: Data]

    private static let (index, log) = ("index.sqlite", "index.sqlite-wal")
    /// The last is an entry without a file, of which the one before has a copy.
    private static let keys = [key(1), key(2), key(3), key(1, 2), key(1, 1)]

    /// A recorded sequence: the directory after each operation, and all that was ever stored.
    private struct Recording: Sendable {
        /// The first and the last belong to a store that was closed.
        var states: [Files] = []
        var stored: [EntryKey: [StoredEntry]] = [:]
    }

    /// How a file system may leave a file that was created under its name and not synced.
    private enum Outcome: CaseIterable {
        case absent, empty, zeros, firstBlock, firstBlockThenZeros, zerosThenRest, halfThenZeros, withoutLastByte, whole

        func content(_ file: Data) -> Data? {
            let (block, half) = (min(4096, file.count), file.count / 2)
            switch self {
            case .absent: return nil
            case .empty: return Data()
            case .zeros: return Data(count: file.count)
            case .firstBlock: return file.prefix(block)
            case .firstBlockThenZeros: return file.prefix(block) + Data(count: file.count - block)
            case .zerosThenRest: return Data(count: block) + file.dropFirst(block)
            case .halfThenZeros: return file.prefix(half) + Data(count: file.count - half)
            case .withoutLastByte: return file.dropLast()
            case .whole: return file
            }
        }
    }

    // MARK: Recording

    private static func record() async throws -> Recording {
        // The log is not merged between opening and closing.
        let fixture = try DiskFixture(budgetBytes: 1 << 30)
        var recording = Recording()
        func save() throws {
            let names = [index, log].filter(fixture.folder.exists) + fixture.folder.files(below: "entries")
            recording.states.append(
                try Dictionary(uniqueKeysWithValues: names.map { ($0, try fixture.folder.bytes($0)) }))
        }
        func store(_ number: Int, _ entry: StoredEntry, in store: DiskStore) async throws {
            try #require(await store.storeAndWait(entry, for: keys[number]))
            recording.stored[keys[number], default: []].append(entry)
        }

        var opened = try await fixture.openHealed()
        try await store(0, large(1), in: opened)
        try await store(1, entry(700, filler: 2, labels: ["host:a"]), in: opened)
        try await store(4, row("first"), in: opened)
        await opened.close()
        try save()
        opened = try await fixture.openHealed()
        try save()
        try await store(2, large(3), in: opened)
        try save()
        // Written beside the file and renamed; of the same size, and of another.
        try await store(0, large(4), in: opened)
        try save()
        try await store(0, entry(9000, filler: 5, labels: ["host:b"]), in: opened)
        try save()
        try await store(4, row("second"), in: opened)
        try save()
        await opened.remove(keys[1])
        try save()
        try await store(1, entry(700, filler: 6, labels: ["host:c"]), in: opened)
        try save()
        try await store(3, carrier, in: opened)
        try save()
        await opened.close()
        try save()
        return recording
    }

    /// An entry of several blocks, none of them like another.
    private static func large(_ number: Int) -> StoredEntry {
        var random = SeededRandom(seed: UInt64(number))
        let bytes = (0..<20_000).map { _ in UInt8.random(in: 1...255, using: &random) }
        return StoredEntry(body: ByteBuffer(bytes: bytes), metadata: ByteBuffer(string: "notes"), labels: ["host:a"])
    }

    private static func row(_ text: String) -> StoredEntry {
        StoredEntry(body: ByteBuffer(), metadata: ByteBuffer(string: text), labels: ["host:a"])
    }

    /// An entry with a copy of the row, which is restored if the index is lost.
    private static var carrier: StoredEntry {
        var entry = large(7)
        entry.companion = StoredEntry.Companion(row("second"), for: keys[4].entry)
        return entry
    }

    // MARK: Cutting

    /// The logs of an index that a power failure may leave, between two states of one opening: cut before and within
    /// each page, without one of the pages, empty or missing.
    private static func logs(_ before: Data, _ after: Data) -> [Data?] {
        let pageBytes = 24 + 4096
        let starts = Array(stride(from: max(32, before.count), to: after.count, by: pageBytes))
        var logs: [Data?] = [nil, Data(), before, after, after + Data(count: pageBytes)]
        for start in starts {
            logs.append(after.prefix(start))
            logs.append(after.prefix(start + pageBytes / 2))
            var hole = after
            hole.replaceSubrange(start..<min(start + pageBytes, after.count), with: Data(count: pageBytes))
            logs.append(hole)
        }
        return logs
    }

    /// The directories in which this operation's files are in this state.
    private static func outcomes(_ before: Files, _ after: Files) -> [Files] {
        let changed = Set(before.keys).union(after.keys).filter { $0.hasPrefix("entries/") && before[$0] != after[$0] }
        guard let name = changed.first else { return [after] }
        guard let new = after[name] else { return [before, after] }
        return Outcome.allCases.flatMap { outcome -> [Files] in
            var renamed = after
            renamed[name] = outcome.content(new)
            guard let old = before[name] else { return [renamed] }
            var unfinished = after
            unfinished[name] = old
            unfinished["\(name).partial"] = outcome.content(new)
            return [renamed, unfinished]
        }
    }

    /// One operation is interrupted: each state of its file, with each state of the index.
    private static func cuts(of recording: Recording) -> [Files] {
        let states = recording.states.dropFirst().dropLast()
        return zip(states, states.dropFirst()).flatMap { before, after -> [Files] in
            let logs = logs(before[log] ?? Data(), after[log] ?? Data())
            // All logs with the whole file, and the states of the file with the most different logs.
            return logs.map { with($0, after) }
                + outcomes(before, after).flatMap { files in
                    [nil, before[log], logs[logs.count / 2], after[log]].map { with($0, files) }
                }
        }
    }

    private static func with(_ log: Data?, _ files: Files) -> Files {
        var files = files
        files[Self.log] = log
        return files
    }

    /// Nothing of the whole opening was synced: each file is in a random state of its history, and so is the log.
    private static func mixtures(of recording: Recording, count: Int) -> [Files] {
        var random = SeededRandom(seed: 42)
        let states = recording.states.dropFirst().dropLast()
        let names = Set(states.flatMap(\.keys)).filter { $0.hasPrefix("entries/") }.sorted()
        return (0..<count).map { _ in
            var files = states.first ?? [:]
            for name in names {
                let history = [nil] + states.map { $0[name] }
                let outcome = Outcome.allCases.randomElement(using: &random) ?? .whole
                files[name] = (history.randomElement(using: &random) ?? nil).flatMap(outcome.content)
            }
            let written = states.last?[log] ?? Data()
            var cut = Data(written.prefix(Int.random(in: 0...written.count, using: &random)))
            if Bool.random(using: &random), cut.count > 8192 {
                let start = Int.random(in: 0..<(cut.count - 4096), using: &random)
                cut.replaceSubrange(start..<(start + 4096), with: Data(count: 4096))
            }
            files[log] = cut
            return files
        }
    }

    /// A device that confirms a sync before it has written: index, log and files are of different times.
    private static func mismatches(of recording: Recording) -> [Files] {
        let states = recording.states
        return states.flatMap { files in
            states.flatMap { other -> [Files] in
                var (index, log) = (files, files)
                index[Self.index] = other[Self.index]
                log[Self.log] = other[Self.log]
                return [index, log]
            }
        } + pages(of: recording)
    }

    /// The index as closing leaves it, but some pages were not written, with and without its log.
    private static func pages(of recording: Recording) -> [Files] {
        guard let closed = recording.states.last, let last = recording.states.dropLast().last,
            let new = closed[index], let old = last[index]
        else { return [] }
        return stride(from: 0, to: new.count, by: 4096).flatMap { start -> [Files] in
            var torn = new
            let end = min(start + 4096, new.count)
            torn.replaceSubrange(start..<end, with: start < old.count ? old[start..<end] : Data(count: end - start))
            var files = closed
            files[index] = torn
            return [files, with(last[log], files)]
        }
    }

    // MARK: Opening

    /// Opens a directory of these files, and expects that all entries in it are whole, that it holds no file that
    /// doesn't count, and that it can be written.
    /// - Parameter isCounted: whether the index is one that a store wrote.
    /// - Returns: the number of corrupt entries that lookups found.
    private static func open(
        _ files: Files, _ stored: [EntryKey: [StoredEntry]], isCounted: Bool, _ name: String
    ) async throws -> Int {
        let fixture = try DiskFixture(budgetBytes: 1 << 30)
        for (name, bytes) in files { try fixture.folder.write(bytes, to: name) }
        let store = try await fixture.openHealed { $0.readers = 1 }
        for key in keys {
            guard let found = await store.entry(for: key) else { continue }
            #expect(stored[key]?.contains(found) == true, "\(name): a corrupt entry was found for \(key.source)")
        }
        await store.waitUntilHealed()
        let counted = store.statistics.bytes
        if isCounted { #expect(try fixture.entryBlocks() == counted, "\(name): \(fixture.log.lines)") }
        #expect(await store.storeAndWait(entry(), for: keys[0]), "\(name)")
        #expect(await store.entry(for: keys[0]) == entry(), "\(name)")
        let corrupt = store.statistics.corrupt
        await store.close()
        return corrupt
    }

    @Test(.timeLimit(.minutes(15)))
    func `Whatever a power failure leaves of unsynced writes, a store opens and nothing half written is found`()
        async throws
    {
        let recording = try await Self.record()
        let cuts = Self.cuts(of: recording) + Self.mixtures(of: recording, count: 200)
        #expect(cuts.count > 500)
        var corrupt = 0
        for (number, files) in cuts.enumerated() {
            corrupt += try await Self.open(files, recording.stored, isCounted: true, "cut \(number)")
        }
        #expect(corrupt > 50, "the files that are damaged within are found by reading them")
    }

    @Test(.timeLimit(.minutes(15)))
    func `An index and a log of different times cost entries, but none is found that was not stored`() async throws {
        let recording = try await Self.record()
        for (number, files) in Self.mismatches(of: recording).enumerated() {
            _ = try await Self.open(files, recording.stored, isCounted: false, "mismatch \(number)")
        }
    }
}
