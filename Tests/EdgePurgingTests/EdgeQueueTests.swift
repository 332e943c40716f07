import Foundation
import Testing

@testable import DarkroomEdgePurging

/// The purges that wait, and how they are put into requests.
struct EdgeQueueTests {
    private static let start = Date(timeIntervalSince1970: 1_000)
    private let varnish = EdgeDestination(.varnish, url: "http://a/").api
    private let bunny = EdgeDestination(.bunny, account: "1").api

    private func queue(_ purges: [EdgePurge], at dates: [Date] = [start]) -> EdgeQueue {
        var queue = EdgeQueue()
        for purge in purges { _ = queue.add(purge, for: ["a"], at: dates, everything: "darkroom") }
        return queue
    }

    private func batch(_ step: EdgeQueue.Step) -> [String] {
        guard case .send(let entries) = step else { return [] }
        return entries.flatMap(\.purge.tags)
    }

    @Test func `A purge waits until it is due, and its second round after it`() {
        var queue = queue([.stub("x")], at: [Self.start, Self.start + 30])
        #expect(queue.next(for: "a", varnish, at: Self.start - 1) == .wait(until: Self.start))
        guard case .send(let first) = queue.next(for: "a", varnish, at: Self.start) else { return }
        #expect(first.map(\.round) == [1])
        queue.remove(first, of: "a")
        #expect(queue.pending(1, for: "a")?.round == 2)
        #expect(queue.next(for: "a", varnish, at: Self.start) == .wait(until: Self.start + 30))
        guard case .send(let second) = queue.next(for: "a", varnish, at: Self.start + 30) else { return }
        queue.remove(second, of: "a")
        #expect(queue.pending(1, for: "a") == nil)
        #expect(queue.next(for: "a", varnish, at: Self.start) == .idle)
        #expect(queue.next(for: "b", varnish, at: Self.start) == .idle)
    }

    @Test func `A request has as many purges as the vendor takes, and soft ones apart`() {
        let purges = (0..<150).map { EdgePurge.stub("t\($0)", soft: $0 == 3) }
        var queue = queue(purges)
        #expect(batch(queue.next(for: "a", varnish, at: Self.start)).count == 100)
        #expect(!batch(queue.next(for: "a", varnish, at: Self.start)).contains("t3"))
        #expect(batch(queue.next(for: "a", bunny, at: Self.start)) == ["t0"])
        for _ in 0..<3 {
            guard case .send(let entries) = queue.next(for: "a", varnish, at: Self.start) else { continue }
            #expect(Set(entries.map(\.purge.isSoft)).count == 1)
            queue.remove(entries, of: "a")
        }
        #expect(queue.next(for: "a", varnish, at: Self.start) == .idle)
    }

    @Test func `A request has no more bytes of tags than the vendor takes, but always one purge`() {
        let long = String(repeating: "a", count: 1_000)
        let queue = queue((0..<9).map { .stub("\($0)\(long)") })
        #expect(batch(queue.next(for: "a", varnish, at: Self.start)).count == 4)
        let single = self.queue([.stub(String(repeating: "a", count: 9_000))])
        #expect(batch(single.next(for: "a", varnish, at: Self.start)).count == 1)
    }

    @Test func `What was refused together is told one by one, later`() {
        var queue = queue([.stub("x"), .stub("y"), .stub("z")])
        guard case .send(let entries) = queue.next(for: "a", varnish, at: Self.start) else { return }
        queue.keep(entries, of: "a", because: "why") { _ in Self.start + 1 }
        #expect(queue.next(for: "a", varnish, at: Self.start) == .wait(until: Self.start + 1))
        #expect(batch(queue.next(for: "a", varnish, at: Self.start + 1)) == ["x"])
        #expect(queue.pending(3, for: "a")?.reason == "why")
    }

    @Test func `A full queue becomes a purge of everything, which stands for all purges in it`() {
        var queue = EdgeQueue()
        for index in 0...EdgeQueue.maxEntries {
            _ = queue.add(.stub("t\(index)", soft: index == 0), for: ["a"], at: [Self.start], everything: "darkroom")
        }
        #expect(queue.entries["a"]?.count == 2)
        #expect(queue.collapses == ["a": 1])
        for number in [1, 500, EdgeQueue.maxEntries + 1] { #expect(queue.pending(number, for: "a") != nil) }
        let next = queue.add(.stub("later"), for: ["a"], at: [Self.start + 1], everything: "darkroom")
        guard case .send(let first) = queue.next(for: "a", varnish, at: Self.start) else { return }
        #expect(first.map(\.purge.tags) == [["darkroom"]] && first.map(\.purge.isSoft) == [false])
        for _ in 0..<2 {
            guard case .send(let entries) = queue.next(for: "a", varnish, at: Self.start) else { continue }
            queue.remove(entries, of: "a")
        }
        #expect(queue.pending(1, for: "a") == nil && queue.pending(next, for: "a") != nil)
    }

    @Test func `Repetitions of a purge are told together, after the last of them is due`() {
        var queue = queue([.stub("x"), .stub("x"), .stub("y")], at: [Self.start, Self.start + 30])
        let last = queue.add(.stub("x"), for: ["a"], at: [Self.start + 1, Self.start + 31], everything: "darkroom")
        #expect(queue.entries["a"]?.count == 6)
        #expect(queue.add(.stub("x", soft: true), for: ["a"], at: [Self.start + 9], everything: "darkroom") == 5)
        guard case .send(let due) = queue.next(for: "a", varnish, at: Self.start) else { return }
        #expect(due.map(\.purge.tags) == [["x"], ["y"]])
        queue.remove(due, of: "a")
        // The second purge waits with the fourth, and the third, which is another, does not.
        #expect(queue.pending(2, for: "a")?.dueAt == Self.start + 1)
        #expect(queue.pending(3, .stub("y"), for: "a")?.dueAt == Self.start + 30)
        queue.remove(queue.entries["a"]?.filter { $0.dueAt < Self.start + 31 } ?? [], of: "a")
        #expect(queue.pending(1, for: "a") == nil && queue.pending(3, .stub("y"), for: "a") == nil)
        #expect(queue.pending(2, for: "a")?.sequence == last)
    }

    @Test func `A repetition neither delays the purge before it nor waits for its next attempt`() {
        var queue = queue([.stub("x"), .stub("x")])
        guard case .send(let due) = queue.next(for: "a", varnish, at: Self.start) else { return }
        queue.keep(due, of: "a", because: "why") { _ in Self.start + 300 }
        _ = queue.add(.stub("x"), for: ["a"], at: [Self.start + 1], everything: "darkroom")
        #expect(queue.entries["a"]?.map(\.dueAt) == [Self.start + 1, Self.start + 300])
        #expect(queue.entries["a"]?.map(\.refusals) == [0, 1])
    }

    /// A receiver that purges each time it is told, without the field that says so.
    @Test func `A loop of a webhook and purges slows down, and stays without a purge of everything`() {
        var queue = EdgeQueue()
        var now = Self.start
        var messages: [Date] = []
        var mostEntries = 0
        func purge() {
            _ = queue.add(
                .stub("x"), for: ["a"], webhooks: ["a"], at: [now, now + 32], everything: "darkroom")
        }
        purge()
        while now < Self.start + 3_600, messages.count < 1_000 {
            switch queue.next(for: "a", bunny, at: now) {
            case .send(let batch):
                queue.remove(batch, of: "a")
                messages.append(now)
                purge()
            case .wait(let date): now = date
            case .idle: Issue.record("the loop ended")
            }
            mostEntries = max(mostEntries, queue.entries["a"]?.count ?? 0)
        }
        #expect(mostEntries <= 4 && queue.collapses.isEmpty)
        #expect((60...200).contains(messages.count), "\(messages.count)")
        #expect(messages.prefix(5).allSatisfy { $0 == Self.start })
        #expect(messages.count { $0 > Self.start + 1_800 } <= 90)
        // Another purge is told at once.
        _ = queue.add(.stub("y"), for: ["a"], webhooks: ["a"], at: [now], everything: "darkroom")
        #expect(queue.pending(queue.lastSequence, .stub("y"), for: "a")?.dueAt == now)
    }

    @Test func `Edges that are gone are dropped, and dates of a clock that was ahead`() {
        var queue = queue([.stub("x")], at: [Self.start + 1e9])
        _ = queue.add(.stub("x"), for: ["b"], at: [Self.start], everything: "darkroom")
        queue.adapt(to: ["a"], latest: Self.start + 5)
        #expect(queue.entries.keys.sorted() == ["a"])
        #expect(queue.next(for: "a", varnish, at: Self.start) == .wait(until: Self.start + 5))
    }

    @Test func `The file has the whole queue, for the server's user alone`() async throws {
        let path = try URL.temporaryFile("queue.json").path
        let file = EdgeQueueFile(path)
        guard case .missing = file.read() else { throw EdgeTransportFailure(reason: "not missing") }
        let queue = queue([.stub("x"), .stub("y", soft: true)])
        #expect(await file.write { queue })
        guard case .queue(let read) = EdgeQueueFile(path).read() else { throw EdgeTransportFailure(reason: "no queue") }
        #expect(read == queue)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        for text in ["", "{}", "{\"version\":2,\"queue\":{}}", "nonsense"] {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            guard case .damaged = file.read() else { throw EdgeTransportFailure(reason: "not damaged: \(text)") }
        }
        let nowhere = EdgeQueueFile(path + "/nowhere/queue.json")
        #expect(await !nowhere.write { queue })
        #expect(nowhere.failureCount == 1)
    }

    @Test(arguments: ["pipe", "link", "folder"])
    func `A file that is not a regular file is damaged, is not waited for, and is replaced`(kind: String) async throws {
        let path = try URL.temporaryFile("queue.json").path
        let target = try URL.temporaryFile("target").path
        try "not ours".write(toFile: target, atomically: false, encoding: .utf8)
        func plant(_ path: String) throws {
            switch kind {
            case "pipe": try #require(mkfifo(path, 0o600) == 0)
            case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
            default: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
        }
        let file = EdgeQueueFile(path)
        try plant(path)
        guard case .damaged = file.read() else { throw EdgeTransportFailure(reason: "not damaged") }
        guard kind != "folder" else { return }
        try plant("\(path).partial")
        let queue = queue([.stub("x")])
        #expect(await file.write { queue })
        guard case .queue(let read) = file.read() else { throw EdgeTransportFailure(reason: "no queue") }
        #expect(read == queue)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "not ours")
    }

    @Test(arguments: [
        "lastSequence", "sequence", "first", "round", "refusals", "repetitions", "a", "dueAt", "purgedAt",
    ])
    func `A file with a number that no server writes is damaged`(name: String) async throws {
        let path = try URL.temporaryFile("queue.json").path
        let file = EdgeQueueFile(path)
        let queue = queue([.stub("x")])
        #expect(await file.write { queue })
        let text = try String(contentsOfFile: path, encoding: .utf8).replacingOccurrences(
            of: "\"collapses\":{}", with: "\"collapses\":{\"a\":1}")
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        guard case .queue(let read) = file.read() else { throw EdgeTransportFailure(reason: "no queue: \(text)") }
        #expect(read.collapses == ["a": 1])
        for number in ["9223372036854775807", "-9223372036854775808"] {
            let changed = text.replacingOccurrences(
                of: "\"\(name)\":-?[0-9.]+", with: "\"\(name)\":\(number)", options: .regularExpression)
            #expect(changed != text)
            try changed.write(toFile: path, atomically: false, encoding: .utf8)
            guard case .damaged = file.read() else { throw EdgeTransportFailure(reason: "not damaged: \(changed)") }
        }
    }
}

extension EdgeQueue {
    fileprivate func pending(_ number: Int, for edge: String) -> Entry? { pending(number, .stub("x"), for: edge) }
}
