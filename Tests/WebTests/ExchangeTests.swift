import NIOCore
import Testing

@testable import DarkroomWeb

struct ExchangeTests {
    private let limits = ConnectionLimits(
        headerTimeout: .seconds(10), bodyTimeout: .seconds(20), idleTimeout: .seconds(30))

    private func second(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    @Test func `each part of a request has its time, which no further byte prolongs`() {
        var exchange = Exchange(at: second(0))
        #expect(exchange.deadline(limits) == second(10))
        exchange.noteBytes(at: second(5))
        #expect(exchange.deadline(limits) == second(10))
        exchange.noteHead(at: second(6))
        #expect(exchange.deadline(limits) == second(26))
        exchange.noteBytes(at: second(20))
        #expect(exchange.deadline(limits) == second(26))
        exchange.noteEnd(at: second(21))
        #expect(exchange.deadline(limits) == nil)
        exchange.noteAnswer(at: second(50))
        #expect(exchange.deadline(limits) == second(80))
        exchange.noteBytes(at: second(60))
        #expect(exchange.deadline(limits) == second(70))
    }

    @Test func `who sends ahead owes nothing while answers are owed`() {
        var exchange = Exchange(at: second(0))
        for _ in 0..<2 {
            exchange.noteHead(at: second(1))
            exchange.noteEnd(at: second(1))
        }
        exchange.noteBytes(at: second(2))
        #expect(exchange.deadline(limits) == nil)
        exchange.noteAnswer(at: second(40))
        #expect(exchange.deadline(limits) == nil)
        exchange.noteAnswer(at: second(50))
        #expect(exchange.deadline(limits) == second(60))
    }

    @Test func `an early answer leaves the body its time, and no more`() {
        var exchange = Exchange(at: second(0))
        exchange.noteHead(at: second(1))
        exchange.noteAnswer(at: second(2))
        #expect(exchange.deadline(limits) == second(21))
    }
}
