import DarkroomTestClock
import DarkroomTestOrigin
import Foundation
import NIOCore
import Synchronization
import Testing

@testable import DarkroomObjectStorage

struct RetryPolicyTests {
    @Test(arguments: [(1, 0.0, 0), (1, 1, 50), (2, 1, 100), (2, 0.5, 50), (3, 1, 200), (9, 1, 2000), (70, 1, 2000)])
    func `Pauses are random up to a limit that doubles`(attempt: Int, random: Double, milliseconds: Int) {
        let policy = RetryPolicy(maxAttempts: 100)
        let pause = policy.pause(afterAttempt: attempt, random: random, retryAfter: nil, remaining: .seconds(60))
        #expect(pause == .milliseconds(milliseconds))
    }

    @Test func `The store may ask for a longer pause`() {
        let policy = RetryPolicy()
        let pause = { policy.pause(afterAttempt: 1, random: 1, retryAfter: $0, remaining: .seconds(60)) }
        #expect(pause(.seconds(5)) == .seconds(5))
        #expect(pause(.zero) == .milliseconds(50))
    }

    @Test func `There is no pause beyond the limits`() {
        let policy = RetryPolicy(maxAttempts: 2)
        #expect(policy.pause(afterAttempt: 2, random: 0, retryAfter: nil, remaining: .seconds(60)) == nil)
        #expect(policy.pause(afterAttempt: 1, random: 1, retryAfter: nil, remaining: .milliseconds(50)) == nil)
        #expect(policy.pause(afterAttempt: 1, random: 0, retryAfter: .seconds(60), remaining: .seconds(60)) == nil)
    }
}

@Suite(.timeLimit(.minutes(5)))
struct RetryTests {
    private let limit = Duration.seconds(60)

    @Test(arguments: [
        "429 Too Many Requests", "500 Internal Server Error", "503 Service Unavailable", "503 Slow Down",
    ])
    func `An answer that may differ is retried`(status: String) async throws {
        let clock = TestClock { [limit] in $0 < limit }
        try await StubStore.run(
            retries: RetryPolicy(), clock: clock
        ) { request in
            request.index < 2 ? Reply.error(status, "SlowDown") : Reply.object("x")
        } testing: { stub in
            try await stub.store.put(.media("k"), ByteBuffer(string: "body"), within: limit)
            #expect(stub.sent.operations == [.put, .put, .put])
            #expect(stub.origin.requests.allSatisfy { String(buffer: $0.body) == "body" })
            #expect(clock.skipped == [.milliseconds(25), .milliseconds(50)])
        }
    }

    @Test(arguments: [
        "400 Bad Request", "403 Forbidden", "404 Not Found", "409 Conflict", "412 Precondition Failed",
        "501 Not Implemented", "502 Bad Gateway", "504 Gateway Timeout", "507 Insufficient Storage",
    ])
    func `Other answers are not retried`(status: String) async throws {
        try await StubStore.run { _ in
            Reply.error(status, "Other")
        } testing: { stub in
            await #expect(throws: ObjectStorageError.self) { try await stub.store.head(.media("k"), within: limit) }
            #expect(stub.sent.operations == [.head])
        }
    }

    @Test(arguments: [TestOrigin.Step.reset, .close])
    func `A reset connection is retried`(step: TestOrigin.Step) async throws {
        try await StubStore.run {
            $0.index < 2 ? [step] : Reply.object("x")
        } testing: { stub in
            let object = try await stub.store.get(.media("k"), maxBytes: 9, within: limit)
            #expect(String(buffer: object.body) == "x")
            #expect(stub.sent.operations.count == 3)
        }
    }

    @Test func `Resets are reported after all attempts`() async throws {
        try await StubStore.run { _ in
            [.reset]
        } testing: { stub in
            await #expect(throws: ObjectStorageError.unreachable(.reset)) {
                try await stub.store.head(.media("k"), within: limit)
            }
            #expect(stub.sent.operations.count == 3)
        }
    }

    @Test func `A body that breaks off is read again into memory`() async throws {
        try await StubStore.run { request in
            request.index == 0
                ? [.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 5\r\n\r\nhe"), .close]
                : Reply.object("hello")
        } testing: { stub in
            let object = try await stub.store.get(.media("k"), maxBytes: 9, within: limit)
            #expect(String(buffer: object.body) == "hello")
        }
    }

    @Test func `What was delivered is not read again`() async throws {
        try await StubStore.run { _ in
            [.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 5\r\n\r\nhe"), .close]
        } testing: { stub in
            await #expect(throws: ObjectStorageError.unreachable(.incomplete)) {
                try await stub.store.get(.media("k"), ObjectRead(maxBytes: 9), within: limit) { _ in }
            }
            #expect(stub.sent.operations.count == 1)
        }
    }

    @Test func `Retry after is obeyed up to the time limit`() async throws {
        let clock = TestClock { [limit] in $0 < limit }
        try await StubStore.run(
            clock: clock
        ) { request in
            let seconds = request.index == 0 ? 7 : 3600
            return Reply.error("503 Slow Down", "SlowDown", fields: ["Retry-After: \(seconds)"])
        } testing: { stub in
            await #expect(throws: ObjectStorageError.slowDown) {
                try await stub.store.get(.media("k"), maxBytes: 9, within: limit)
            }
            #expect(stub.sent.operations.count == 2)
            #expect(clock.skipped == [.seconds(7)])
        }
    }

    @Test func `The time limit ends a pause`() async throws {
        let clock = TestClock()
        try await StubStore.run(
            retries: RetryPolicy(firstPause: .seconds(5), maxPause: .seconds(5)), clock: clock
        ) { _ in
            Reply.error("503 Slow Down", "SlowDown")
        } testing: { stub in
            async let expiry: Void = {
                // The limit and the pause.
                for _ in 0..<2 { _ = await clock.nextSleep() }
                clock.advance(by: limit)
            }()
            await #expect(throws: ObjectStorageError.self) { try await stub.store.head(.media("k"), within: limit) }
            await expiry
        }
    }

    @Test func `A skewed clock is corrected once`() async throws {
        let clock = Mutex<[String]>([])
        let epoch = { @Sendable in Date(timeIntervalSince1970: 0) }
        try await StubStore.run(now: epoch) { request in
            clock.withLock { $0.append(request.fields["x-amz-date"] ?? "") }
            return request.fields["x-amz-date"]?.hasPrefix("2026") == true
                ? Reply.object("x")
                : Reply.error(
                    "403 Forbidden", "RequestTimeTooSkewed", fields: ["Date: Sun, 22 Nov 2026 10:00:00 GMT"])
        } testing: { stub in
            _ = try await stub.store.get(.media("k"), maxBytes: 9, within: limit)
            _ = try await stub.store.get(.media("k"), maxBytes: 9, within: limit)
            #expect(clock.withLock { $0 } == ["19700101T000000Z", "20261122T100000Z", "20261122T100000Z"])
        }
    }

    @Test func `A store that is never content with the time is not asked forever`() async throws {
        try await StubStore.run { _ in
            Reply.error("403 Forbidden", "RequestTimeTooSkewed", fields: ["Date: Fri, 31 Dec 9999 23:59:59 GMT"])
        } testing: { stub in
            let expected = ObjectStorageError.forbidden(code: S3ErrorCode("RequestTimeTooSkewed"))
            await #expect(throws: expected) { try await stub.store.get(.media("k"), maxBytes: 9, within: limit) }
            #expect(stub.sent.operations.count == 2)
            await #expect(throws: expected) { try await stub.store.get(.media("k"), maxBytes: 9, within: limit) }
        }
    }

    @Test(arguments: ["Date: yesterday", "X: y"])
    func `Without a date the clock is kept`(field: String) async throws {
        try await StubStore.run { _ in
            Reply.error("403 Forbidden", "RequestTimeTooSkewed", fields: [field])
        } testing: { stub in
            await #expect(throws: ObjectStorageError.self) {
                try await stub.store.get(.media("k"), maxBytes: 9, within: limit)
            }
            #expect(stub.sent.operations.count == 1)
        }
    }

    @Test func `Expired credentials are renewed once`() async throws {
        let loads = Mutex(0)
        let load = { @Sendable () async throws(CredentialsError) in
            let number = loads.withLock { loads in
                loads += 1
                return loads
            }
            return Credentials.make("KEY\(number)")
        }
        let credentials = RenewingCredentials(load: load, now: { Date() })
        try await StubStore.run(
            credentials: credentials
        ) { request in
            request.fields["authorization"]?.contains("KEY2/") == true
                ? Reply.object("x") : Reply.error("400 Bad Request", "ExpiredToken")
        } testing: { stub in
            _ = try await stub.store.get(.media("k"), maxBytes: 9, within: limit)
            #expect(stub.sent.operations.count == 2)
            #expect(loads.withLock { $0 } == 2)
        }
    }
}
