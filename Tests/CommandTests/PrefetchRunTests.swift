import DarkroomTestClock
import Foundation
import Synchronization
import Testing

@testable import DarkroomCommand

/// How `darkroom prefetch` follows its jobs, with a server of the test's making.
@Suite(.timeLimit(.minutes(5)))
struct PrefetchRunTests {
    private typealias Failure = PrefetchJobState.Failure

    private static func job(
        _ state: PrefetchJobState.State, done: Int = 0, failures: [String] = [], id: UUID = UUID()
    ) -> PrefetchJobState {
        PrefetchJobState(
            id: id, state: state, total: 10, done: done, failed: failures.count, bytes: done * 100,
            failures: failures.map { Failure(url: $0, query: "", detail: "") })
    }

    private typealias Answer = Result<PrefetchJobState, PrefetchFailure>

    /// The run of a list of one image per job, and what it reported.
    private func run(
        _ list: String, starts: [Answer] = [], states: [Answer], clock: TestClock = TestClock { _ in true }
    ) async -> (counts: PrefetchRun.Counts, failure: PrefetchRun.Failure?, failures: [String]) {
        let starts = Mutex(starts)
        let states = Mutex(states)
        let server = PrefetchRun.Server { _ throws(PrefetchFailure) in
            let next = starts.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return try next?.get() ?? Self.job(.running)
        } state: { _ throws(PrefetchFailure) in
            try states.withLock { $0.removeFirst() }.get()
        }
        let run = PrefetchRun(server, clock: clock)
        let reported = Mutex<[String]>([])
        var failure: PrefetchRun.Failure?
        do throws(PrefetchRun.Failure) {
            try await run.run(PrefetchList(list)) { item in reported.withLock { $0.append(item.url) } }
        } catch {
            failure = error
        }
        return (run.counts, failure, reported.withLock(\.self))
    }

    @Test func `Progress is the last state, and each failure is reported once`() async {
        let states = [
            Self.job(.running), Self.job(.running, done: 3, failures: ["a"]),
            Self.job(.done, done: 8, failures: ["a", "b"]),
        ]
        let run = await run("x", states: states.map { .success($0) })
        #expect(run.failure == nil)
        #expect(run.counts == PrefetchRun.Counts(done: 8, failed: 2, bytes: 800))
        #expect(run.failures == ["a", "b"])
    }

    @Test(
        arguments: [
            (10, 7, 3, 5, true), (10, 0, 0, .max, true), (0, 0, 0, 0, true), (10_000, 10_000, 0, 0, true),
            (10_001, 0, 0, 0, false), (.max, .max, 0, 0, false), (-1, 0, 0, 0, false), (10, 8, 3, 0, false),
            (10, -1, 3, 0, false), (10, 3, -1, 0, false), (10, .max, 1, 0, false), (10, 1, .max, 0, false),
            (10, 0, 0, -1, false),
        ] as [(Int, Int, Int, Int, Bool)])
    func `Counts that no job has are not from a Darkroom server`(
        total: Int, done: Int, failed: Int, bytes: Int, isPossible: Bool
    ) {
        let document = """
            {"id":"\(UUID())","state":"running","total":\(total),"done":\(done),"failed":\(failed),\
            "bytes":\(bytes),"failures":[]}
            """
        let job = try? JSONDecoder().decode(PrefetchJobState.self, from: Data(document.utf8))
        #expect((job != nil) == isPossible)
    }

    @Test func `Bytes that do not fit into a number are as many as fit`() async {
        var last = Self.job(.done, done: 10)
        last.bytes = .max
        let images = Array(repeating: "x", count: 10_001).joined(separator: "\n")
        let run = await run(images, states: [.success(last), .success(last)])
        #expect(run.failure == nil)
        #expect(run.counts == PrefetchRun.Counts(done: 20, failed: 0, bytes: .max))
    }

    @Test func `Questions become rarer, up to one a second`() async {
        let clock = TestClock { _ in true }
        let running = Array(repeating: Answer.success(Self.job(.running)), count: 5)
        _ = await run("x", states: running + [.success(Self.job(.done))], clock: clock)
        #expect(clock.skipped == [100, 200, 400, 800, 1000, 1000].map { .milliseconds($0) })
    }

    @Test func `A server that does not answer is asked again, and failures are not repeated`() async {
        let clock = TestClock { _ in true }
        let run = await run(
            "x",
            states: [
                .success(Self.job(.running, done: 1, failures: ["a"])), .failure(.connection("Connection refused.")),
                .failure(.connection("Connection refused.")), .success(Self.job(.done, done: 9, failures: ["a"])),
            ], clock: clock)
        #expect(run.failure == nil)
        #expect(run.counts.done == 9)
        #expect(run.failures == ["a"])
        #expect(clock.skipped.suffix(2) == [.seconds(1), .seconds(2)])
    }

    @Test func `A server that stays away ends the run, and an answer in between begins the count anew`() async {
        let id = UUID()
        let clock = TestClock { _ in true }
        let lost = Answer.failure(.connection("Connection refused."))
        let run = await run(
            "x", starts: [.success(Self.job(.running, id: id))],
            states: [lost, lost, .success(Self.job(.running, done: 2))] + Array(repeating: lost, count: 6),
            clock: clock)
        #expect(run.failure == .lost(id, reason: "Connection refused."))
        #expect(run.counts.done == 2)
        #expect(clock.skipped.count == 9)
    }

    @Test func `A job that the server has forgotten or canceled is not waited for`() async {
        let forgotten = await run("x", states: [.failure(.refused(status: 404, detail: "", member: nil))])
        #expect(forgotten.failure == .forgotten)
        let canceled = await run("x\ny", states: [.success(Self.job(.cancelled, done: 4))])
        #expect(canceled.failure == .canceled)
        #expect(canceled.counts.done == 4)
    }

    @Test func `A refused list names the line, and another refusal is the server's`() async {
        let refused = PrefetchFailure.refused(status: 400, detail: "Not a URL.", member: "urls[0]")
        #expect(await run("#\nx", starts: [.failure(refused)], states: []).failure == .line(2, detail: "Not a URL."))
        let access = PrefetchFailure.refused(status: 401, detail: "No token.", member: nil)
        #expect(await run("x", starts: [.failure(access)], states: []).failure == .server(access))
        #expect(access.sentence("http://a", hasToken: true).hasSuffix("is not the server's admin-token."))
        #expect(access.sentence("http://a", hasToken: false).hasSuffix("or name a file with --admin-token-file."))
    }

    @Test func `A job that is being started when the run is canceled is known, so that it can be canceled too`() async {
        let (arrivals, arrive) = AsyncStream<Void>.makeStream()
        let (answers, answer) = AsyncStream<PrefetchJobState>.makeStream()
        let job = Self.job(.running)
        let server = PrefetchRun.Server { _ throws(PrefetchFailure) in
            arrive.yield()
            for await state in answers { return state }
            throw .connection("canceled")
        } state: { _ throws(PrefetchFailure) in
            throw .connection("canceled")
        }
        let run = PrefetchRun(server, clock: TestClock())
        let work = Task { () async -> PrefetchRun.Failure? in
            do throws(PrefetchRun.Failure) {
                try await run.run(PrefetchList("x")) { _ in }
                return nil
            } catch {
                return error
            }
        }
        for await _ in arrivals { break }
        work.cancel()
        answer.yield(job)
        #expect(await work.value == .canceled)
        #expect(run.job == job.id)
    }
}
