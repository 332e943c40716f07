import DarkroomTestClock
import DarkroomTestLogs
import Foundation
import HTTPTypes
import NIOPosix
import Synchronization
import Testing

@testable import DarkroomEdgePurging

/// When edges are told, and told again.
@Suite(.timeLimit(.minutes(5)))
struct EdgePurgerTests {
    @Test func `An edge is told once the purge holds, and once more after answers under way have arrived`() async {
        let bench = PurgerBench()
        await bench.running {
            let ticket = await bench.purger.tell(.stub("x"), after: .seconds(6), again: .seconds(30))
            #expect(bench.purger.states(of: ticket).map(\.progress) == [.pending])
            await bench.pause(until: .seconds(6))
            #expect(bench.transport.requests.isEmpty)
            bench.clock.advance(by: .seconds(6))
            #expect(await bench.nextTags() == "x")
            await bench.pause(until: .seconds(36))
            #expect(bench.purger.states(of: ticket).map(\.progress) == [.pending])
            async let states = bench.purger.wait(for: ticket)
            bench.clock.advance(by: .seconds(30))
            #expect(await bench.nextTags() == "x")
            #expect(await states == [EdgeState(edge: "varnish:edge-b:6081", progress: .told, reason: nil)])
            #expect(bench.purger.statistics.map(\.told) == [2] && bench.purger.statistics.map(\.pending) == [0])
        }
    }

    @Test func `Requests carry the purge's id, so that a purge that follows from one is recognized`() async {
        let bench = PurgerBench()
        await bench.running {
            let ticket = await bench.purger.tell(.stub("x", id: "purge_9"), after: .zero, again: nil)
            _ = await bench.purger.wait(for: ticket)
            #expect(bench.transport.requests.map { $0.field("Darkroom-Purge") } == ["purge_9"])
        }
    }

    @Test func `The log says once that a webhook gets the same purge again and again`() async {
        let bench = PurgerBench([EdgeDestination(.webhook, url: "http://hooks/"), PurgerBench.varnish])
        for _ in 0..<9 { _ = await bench.purger.tell(.stub("x"), after: .zero, again: nil) }
        #expect(bench.logs.count(of: "again and again") == 1)
        for index in 0..<9 { _ = await bench.purger.tell(.stub("t\(index)"), after: .zero, again: nil) }
        #expect(bench.logs.count(of: "again and again") == 1)
    }

    @Test func `Purges that came while an edge was busy are told together`() async {
        let bench = PurgerBench { _, index in index == 0 ? EdgeAnswer(status: 503) : EdgeAnswer(status: 200) }
        await bench.running {
            _ = await bench.purger.tell(.stub("a"), after: .zero, again: nil)
            #expect(await bench.nextTags() == "a")
            await bench.pause(until: .seconds(1))
            _ = await bench.purger.tell(.stub("b", "a"), after: .zero, again: nil)
            let ticket = await bench.purger.tell(.stub("c"), after: .zero, again: nil)
            async let states = bench.purger.wait(for: ticket)
            bench.clock.advance(by: .seconds(1))
            #expect(await bench.nextTags() == "a b c")
            #expect(await states.map(\.progress) == [.told])
        }
    }

    @Test(arguments: [
        (nil as String?, 1.0, 2.0), ("7", 7, 7), ("1000000000", 300, 300), ("0", 1, 1), ("1e9", 1, 2),
        ("nonsense", 1, 2),
    ])
    func `A busy edge is asked again after the pause that it names, within bounds`(
        retryAfter: String?, first: Double, second: Double
    ) async {
        let bench = PurgerBench { _, index in
            guard index < 2 else { return EdgeAnswer(status: 200) }
            var fields = HTTPFields()
            fields[.retryAfter] = retryAfter
            return EdgeAnswer(status: 429, fields: fields)
        }
        await bench.running {
            let ticket = await bench.purger.tell(.stub("a"), after: .zero, again: nil)
            for end in [first, first + second] {
                #expect(await bench.nextTags() == "a")
                await bench.pause(until: .seconds(end))
                bench.clock.advance(to: .seconds(end))
            }
            #expect(await bench.purger.wait(for: ticket).map(\.progress) == [.told])
            #expect(bench.purger.statistics.map(\.postponed) == [2])
            #expect(bench.logs.count(of: "an edge did not confirm") == 1)
            #expect(bench.logs.count(of: "an edge confirms purges again") == 1)
        }
    }

    @Test func `A refusal ends the wait, is logged once, and does not hold up other purges`() async {
        let bench = PurgerBench { request, _ in
            EdgeAnswer(status: request.field("xkey-purge")?.contains("bad") == true ? 401 : 200)
        }
        await bench.running {
            let bad = await bench.purger.tell(.stub("bad"), after: .zero, again: nil)
            let states = await bench.purger.wait(for: bad)
            #expect(
                states == [
                    EdgeState(edge: "varnish:edge-b:6081", progress: .pending, reason: "it answered with status 401")
                ])
            let good = await bench.purger.tell(.stub("good"), after: .zero, again: nil)
            #expect(await bench.purger.wait(for: good).map(\.progress) == [.told])
            #expect(bench.purger.states(of: bad).map(\.progress) == [.pending])
            #expect(bench.purger.statistics.map(\.refused) == [1])
            #expect(bench.logs.count(of: "an edge did not confirm") == 1)
        }
    }

    @Test func `One edge that fails does not keep another from being told`() async {
        let bench = PurgerBench([PurgerBench.varnish, PurgerBench.nginx]) { request, _ throws(EdgeTransportFailure) in
            guard request.url.contains("edge-a") else { throw EdgeTransportFailure(reason: "it is down") }
            return EdgeAnswer(status: 200)
        }
        await bench.running {
            let ticket = await bench.purger.tell(.stub("a"), after: .zero, again: nil)
            for await request in bench.transport.arrivals where request.url.contains("edge-b") { break }
            await bench.pause(until: .seconds(1))
            bench.purger.endWaits()
            #expect(
                bench.purger.states(of: ticket).contains(
                    EdgeState(edge: "varnish:edge-b:6081", progress: .pending, reason: "it is down")))
        }
    }

    @Test func `An edge that hangs delays neither the purge nor another edge`() async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        let bench = PurgerBench([PurgerBench.varnish, PurgerBench.nginx]) { request, _ in
            if request.url.contains("edge-b") { for await _ in ends {} }
            return EdgeAnswer(status: 200)
        }
        await bench.running {
            let first = await bench.purger.tell(.stub("a"), after: .zero, again: nil)
            for await request in bench.transport.arrivals where request.url.contains("edge-a") { break }
            let second = await bench.purger.tell(.stub("b"), after: .zero, again: nil)
            for await request in bench.transport.arrivals where request.url.contains("edge-a") { break }
            #expect(bench.purger.states(of: first).map(\.progress) == [.pending, .told])
            end.finish()
            #expect(await bench.purger.wait(for: second).map(\.progress) == [.told, .told])
        }
    }

    @Test func `A tag that an edge cannot have is told as a purge of everything`() async {
        let bench = PurgerBench()
        await bench.running {
            let ticket = await bench.purger.tell(.stub("a b"), after: .zero, again: nil)
            _ = await bench.purger.wait(for: ticket)
            #expect(bench.transport.requests.map { $0.field("xkey-purge") } == ["darkroom"])
        }
    }

    @Test func `A wait ends when the server is about to stop, and a later one at once`() async {
        let bench = PurgerBench { _, _ in EdgeAnswer(status: 503) }
        await bench.running {
            let ticket = await bench.purger.tell(.stub("a"), after: .seconds(6), again: nil)
            async let states = bench.purger.wait(for: ticket)
            // Two sleeps: of the delivery, and of the wait for the moment from which the purge holds.
            _ = await bench.clock.nextSleep()
            _ = await bench.clock.nextSleep()
            bench.purger.endWaits()
            #expect(await states.map(\.progress) == [.pending])
            #expect(await bench.purger.wait(for: ticket).map(\.progress) == [.pending])
        }
    }

    @Test func `A wait ends with its task`() async {
        let bench = PurgerBench { _, _ in EdgeAnswer(status: 503) }
        await bench.running {
            let ticket = await bench.purger.tell(.stub("a"), after: .seconds(6), again: nil)
            let wait = Task { await bench.purger.wait(for: ticket) }
            _ = await bench.clock.nextSleep()
            wait.cancel()
            #expect(await wait.value.map(\.progress) == [.pending])
        }
    }

    @Test func `Without edges, a wait lasts until the purge holds`() async {
        let bench = PurgerBench([])
        await bench.running {
            let ticket = await bench.purger.tell(.stub("a"), after: .seconds(6), again: nil)
            async let states = bench.purger.wait(for: ticket)
            #expect(await bench.clock.nextSleep() == .seconds(6))
            bench.clock.advance(by: .seconds(6))
            #expect(await states.isEmpty)
            #expect(bench.transport.requests.isEmpty)
        }
    }

    @Test func `Without edges, a purger over HTTP ends too`() async {
        let logs = LogRecorder()
        let purger = EdgePurger(
            [], everything: "darkroom", file: nil, userAgent: "test",
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logs.logger)
        purger.stop()
        await purger.run()
        #expect(logs.lines.isEmpty)
    }

    @Test func `What was not told survives a restart, and is told by the next process`() async throws {
        let file = try URL.temporaryFile("edge-purges.json").path
        let clock = TestClock()
        let first = PurgerBench(file: file, clock: clock)
        _ = await first.purger.tell(.stub("a"), after: .seconds(6), again: nil)
        let second = PurgerBench(file: file, clock: clock)
        await second.running {
            #expect(second.purger.statistics.map(\.pending) == [1])
            await second.pause(until: .seconds(6))
            clock.advance(by: .seconds(6))
            #expect(await second.nextTags() == "a")
        }
    }

    @Test func `What was told is not told again after a restart`() async throws {
        let file = try URL.temporaryFile("edge-purges.json").path
        let first = PurgerBench(file: file)
        let run = Task { await first.purger.run() }
        let ticket = await first.purger.tell(.stub("a"), after: .zero, again: nil)
        #expect(await first.purger.wait(for: ticket).map(\.progress) == [.told])
        first.purger.stop()
        await run.value
        #expect(PurgerBench(file: file).purger.statistics.map(\.pending) == [0])
    }

    @Test func `A damaged queue is told as a purge of everything`() async throws {
        let file = try URL.temporaryFile("edge-purges.json", "{").path
        let bench = PurgerBench(file: file)
        await bench.running { #expect(await bench.nextTags() == "darkroom") }
        #expect(bench.logs.count(of: "damaged") == 1)
    }

    @Test func `A purge goes on without a file that can be written, which is logged once`() async throws {
        let file = try URL.temporaryFile("not-a-folder", "").path + "/queue"
        let bench = PurgerBench(file: file)
        await bench.running {
            for _ in 0..<2 {
                let ticket = await bench.purger.tell(.stub("a"), after: .zero, again: nil)
                #expect(await bench.purger.wait(for: ticket).map(\.progress) == [.told])
            }
        }
        #expect(bench.purger.fileFailures >= 2)
        #expect(bench.logs.count(of: "its file cannot be written") == 1)
    }

    @Test func `Stopping tries what is due once more, and ends although an edge does not answer`() async {
        let (calls, call) = AsyncStream<Void>.makeStream()
        let bench = PurgerBench { _, _ throws(EdgeTransportFailure) in
            call.yield()
            // Ends with its task only.
            for await _ in AsyncStream<Void>.makeStream().stream {}
            throw EdgeTransportFailure(reason: "canceled")
        }
        let run = Task { await bench.purger.run() }
        let ticket = await bench.purger.tell(.stub("a"), after: .zero, again: nil)
        for await _ in calls { break }
        bench.purger.stop()
        await bench.clock.sleep(of: EdgePurger.shutdownGrace)
        bench.clock.advance(by: EdgePurger.shutdownGrace)
        await run.value
        #expect(bench.purger.states(of: ticket).map(\.progress) == [.pending])
    }
}

extension TestClock {
    /// Waits for a sleep of this length; others may begin before it.
    fileprivate func sleep(of length: Swift.Duration) async {
        while let next = await nextSleep(), next != length {}
    }
}
