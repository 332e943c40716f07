import NIOCore
import Testing

@testable import DarkroomHTTPServer

@Suite struct ReadAllowanceTests {
    /// The seconds until a client is out of time that takes `bytes` every `period` seconds; nil if it never is.
    private func seconds(taking bytes: Int, every period: Int64, for limit: Int64 = 3_600) -> Int64? {
        let start = NIODeadline.uptimeNanoseconds(1)
        var allowance = ReadAllowance(limit: .seconds(30), bytesPerSecond: 8 << 10, at: start)
        allowance.update(taken: 0, isWaiting: true, at: start)
        for second in stride(from: period, through: limit, by: Int(period)) {
            let now = start + .seconds(second)
            if allowance.deadline <= now { return (allowance.deadline - start).nanoseconds / 1_000_000_000 }
            allowance.update(taken: bytes, isWaiting: true, at: now)
        }
        return nil
    }

    @Test func `A client that takes nothing has the whole time once`() {
        #expect(seconds(taking: 0, every: 1) == 30)
    }

    @Test func `A client below the rate is out of time, and one above it never is`() throws {
        #expect((58...60).contains(try #require(seconds(taking: 4 << 10, every: 1))))
        #expect((230...240).contains(try #require(seconds(taking: 7 << 10, every: 1))))
        #expect(seconds(taking: 8 << 10, every: 1) == nil)
        #expect(seconds(taking: 16 << 10, every: 1) == nil)
    }

    @Test func `A client may take its bytes in bursts, if they are less than the time apart`() throws {
        #expect(seconds(taking: 384 << 10, every: 24) == nil)
        #expect((41...42).contains(try #require(seconds(taking: 96 << 10, every: 24))))
        #expect(seconds(taking: 10 << 20, every: 31) == 30)
    }

    @Test func `Time without waiting bytes counts for the client`() {
        let start = NIODeadline.uptimeNanoseconds(1)
        var allowance = ReadAllowance(limit: .seconds(30), bytesPerSecond: 8 << 10, at: start)
        allowance.update(taken: 0, isWaiting: true, at: start)
        allowance.update(taken: 0, isWaiting: false, at: start + .seconds(20))
        allowance.update(taken: 0, isWaiting: true, at: start + .seconds(25))
        #expect(allowance.deadline == start + .seconds(25 + 15))
        allowance.update(taken: 0, isWaiting: false, at: start + .seconds(26))
        allowance.update(taken: 0, isWaiting: true, at: start + .seconds(100))
        #expect(allowance.deadline == start + .seconds(130))
    }
}
