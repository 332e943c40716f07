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
}
