import NIOCore
import Testing

@testable import DarkroomHTTPServer

struct RequestProgressTests {
    private let limits = ConnectionLimits(
        headerTimeout: .seconds(10), bodyTimeout: .seconds(20), idleTimeout: .seconds(30))

    private func second(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    @Test func `Each part of a request has its own timeout, which further bytes do not extend`() {
        var progress = RequestProgress(at: second(0))
        #expect(progress.deadline(limits) == second(10))
        progress.receivedBytes(at: second(5))
        #expect(progress.deadline(limits) == second(10))
        progress.receivedHead(at: second(6))
        #expect(progress.deadline(limits) == second(26))
        progress.receivedBytes(at: second(20))
        #expect(progress.deadline(limits) == second(26))
        progress.receivedEnd(at: second(21))
        #expect(progress.deadline(limits) == nil)
        progress.sentResponse(at: second(50))
        #expect(progress.deadline(limits) == second(80))
        progress.receivedBytes(at: second(60))
        #expect(progress.deadline(limits) == second(70))
    }

    @Test func `A client that pipelines requests owes nothing while responses are pending`() {
        var progress = RequestProgress(at: second(0))
        for _ in 0..<2 {
            progress.receivedHead(at: second(1))
            progress.receivedEnd(at: second(1))
        }
        progress.receivedBytes(at: second(2))
        #expect(progress.deadline(limits) == nil)
        progress.sentResponse(at: second(40))
        #expect(progress.deadline(limits) == nil)
        progress.sentResponse(at: second(50))
        #expect(progress.deadline(limits) == second(60))
    }

    @Test func `An early response does not extend the time for the body`() {
        var progress = RequestProgress(at: second(0))
        progress.receivedHead(at: second(1))
        progress.sentResponse(at: second(2))
        #expect(progress.deadline(limits) == second(21))
    }
}
