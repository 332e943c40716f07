import DarkroomTestClock
import Synchronization
import Testing

@testable import DarkroomWaiting

@Suite(.timeLimit(.minutes(5)))
struct DeadlineTests {
    private let clock = TestClock()
    private let timer: DeadlineTimer
    private let news: AsyncStream<String>
    private let tell: AsyncStream<String>.Continuation

    init() {
        timer = DeadlineTimer(.seconds(10), clock: clock)
        (news, tell) = AsyncStream.makeStream()
    }

    private func begin(_ name: String) -> Int { timer.begin { [tell] in tell.yield(name) } }

    @Test func `Each deadline passes at its own time, in order, while one sleep at a time is under way`() async {
        var news = news.makeAsyncIterator()
        _ = begin("first")
        #expect(await clock.nextSleep() == .seconds(10))
        clock.advance(to: .seconds(4))
        _ = begin("second")
        _ = begin("third")
        clock.advance(to: .seconds(13))
        #expect(await news.next() == "first")
        #expect(await clock.nextSleep() == .seconds(1))
        #expect(timer.count == 2)
        clock.advance(to: .seconds(14))
        #expect(await news.next() == "second")
        #expect(await news.next() == "third")
        #expect(timer.count == 0)
    }

    @Test func `A deadline that was ended does not pass, and the next one does`() async {
        var news = news.makeAsyncIterator()
        let first = begin("first")
        _ = await clock.nextSleep()
        clock.advance(to: .seconds(1))
        let second = begin("second")
        timer.end(first)
        timer.end(second)
        _ = begin("third")
        #expect(timer.count == 1)
        clock.advance(to: .seconds(10))
        #expect(await clock.nextSleep() == .seconds(1))
        clock.advance(to: .seconds(11))
        #expect(await news.next() == "third")
    }

    @Test func `A deadline after a time without any passes too`() async {
        var news = news.makeAsyncIterator()
        _ = begin("first")
        _ = await clock.nextSleep()
        clock.advance(to: .seconds(10))
        #expect(await news.next() == "first")
        clock.advance(to: .seconds(100))
        _ = begin("second")
        #expect(await clock.nextSleep() == .seconds(10))
        clock.advance(to: .seconds(110))
        #expect(await news.next() == "second")
    }

    @Test func `A deadline that comes before the others passes first`() async {
        var news = news.makeAsyncIterator()
        _ = begin("usual")
        #expect(await clock.nextSleep() == .seconds(10))
        _ = timer.begin(after: .seconds(3)) { [tell] in tell.yield("short") }
        #expect(await clock.nextSleep() == .seconds(3))
        _ = timer.begin(after: .seconds(20)) { [tell] in tell.yield("long") }
        clock.advance(to: .seconds(3))
        #expect(await news.next() == "short")
        #expect(await clock.nextSleep() == .seconds(7))
        clock.advance(to: .seconds(25))
        #expect(await news.next() == "usual")
        #expect(await news.next() == "long")
        #expect(timer.count == 0)
    }

    @Test func `A wait ends at the deadline, also if it begins after it`() async {
        let (deadline, ended) = (Deadline(), Names())
        await deadline.wait {
        } endedBy: {
            ended.add("over before")
        }
        await deadline.wait {
            #expect(!deadline.hasPassed)
            deadline.pass()
        } endedBy: {
            ended.add("under way")
        }
        #expect(deadline.hasPassed)
        #expect(ended.all == ["under way"])
        await deadline.wait {
        } endedBy: {
            ended.add("too late")
        }
        deadline.pass()
        #expect(ended.all == ["under way", "too late"])
    }

    @Test func `A wait ends when its task is canceled`() async {
        let ended = Names()
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await Deadline().wait {
            } endedBy: {
                ended.add("canceled")
            }
        }.value
        #expect(ended.all == ["canceled"])
    }

    @Test func `A deadline names the phase in which it passed`() {
        let phases = PhasedDeadline("first")
        phases.enter("second")
        #expect(phases.phaseWhenPassed == nil)
        phases.deadline.pass()
        phases.enter("third")
        #expect(phases.phaseWhenPassed == "second")
    }

    @Test func `An operation is canceled at the deadline and fails as expired`() async {
        let (silence, writer) = AsyncStream<Never>.makeStream()
        defer { writer.finish() }
        let call = Task { [timer] in
            do throws(Failure) {
                try await withDeadline(timer, expired: .timedOut) { () async throws(Failure) in
                    for await _ in silence {}
                    throw .canceled
                }
                return Failure?.none
            } catch {
                return error
            }
        }
        _ = await clock.nextSleep()
        clock.advance(to: .seconds(10))
        #expect(await call.value == .timedOut)
        #expect(timer.count == 0)
    }

    @Test func `The call returns or throws the result of its operation`() async throws {
        #expect(try await withDeadline(timer, expired: Failure.canceled) { () throws(Failure) in 7 } == 7)
        await #expect(throws: Failure.loop) {
            try await withDeadline(timer, expired: Failure.canceled) { () throws(Failure) in throw .loop }
        }
        #expect(timer.count == 0)
    }
}

private enum Failure: Error {
    case timedOut, canceled, loop
}

private final class Names: Sendable {
    private let names = Mutex<[String]>([])

    var all: [String] { names.withLock { $0 } }

    func add(_ name: String) { names.withLock { $0.append(name) } }
}
