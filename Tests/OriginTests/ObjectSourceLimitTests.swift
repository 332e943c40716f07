import DarkroomTestClock
import DarkroomTestOrigin
import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import DarkroomMachine
@testable import DarkroomNetwork
@testable import DarkroomObjectStorage
@testable import DarkroomOrigin

/// Limits on objects: sizes, time, slots, bytes in flight and circuits.
@Suite(.timeLimit(.minutes(5)))
struct ObjectSourceLimitTests {
    @Test func `An object of 5 GB is refused at its announced length`() async throws {
        let result = try await StubSources.failure(maxSourceBytes: 1000) { _ in
            [.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 5368709120\r\n\r\n"), .sendForever("x")]
        }
        #expect(result.error == .tooLarge(limitBytes: 1000))
    }

    @Test func `An object of unknown length is counted while it arrives`() async throws {
        let result = try await StubSources.failure(maxSourceBytes: 10_000) { _ in
            [
                .send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nTransfer-Encoding: chunked\r\n\r\n"),
                .sendForever("400\r\n\(String(repeating: "x", count: 1024))\r\n"),
            ]
        }
        #expect(result.error == .tooLarge(limitBytes: 10_000))
    }

    @Test func `An object that ends early is no image, and is not read on from another version`() async throws {
        let result = try await StubSources.failure { request in
            [
                .send("HTTP/1.1 200 OK\r\nETag: \"\(request.index)\"\r\nContent-Length: 100\r\n\r\nhalf of it"),
                .close,
            ]
        }
        #expect(result.error == .unreachable(.incomplete))
        #expect(result.requests == 1)
    }

    @Test func `An empty object is no image`() async throws {
        #expect(
            try await StubSources.failure { _ in [.respond(fields: ["ETag: \"e\""], body: "")] }.error == .emptyBody)
    }

    @Test func `A store that stalls before its answer or within the object is given up at the deadline`() async throws {
        let head = "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 100000\r\n\r\n"
        for (steps, phase) in [([TestOrigin.Step.stall], OriginError.Phase.response), ([.send(head), .drip], .body)] {
            let result = try await StubSources.failure(downloadTimeout: .seconds(5)) { _ in steps }
            #expect(result.error == .timedOut(phase))
        }
    }

    @Test func `Canceling ends the transfer`() async throws {
        try await StubSources.run { _ in
            [.stall]
        } testing: { stub in
            let url = SourceURL.object()
            let task = Task { await stub.sources.failure(of: url) }
            for await _ in stub.store.arrivals { break }
            task.cancel()
            #expect(await task.value == .cancelled)
            for await _ in stub.store.hangUps { break }
        }
    }

    @Test func `Progress is reported with the announced length`() async throws {
        let gate = NIOSingletons.posixEventLoopGroup.next().makePromise(of: Void.self)
        let reports = Mutex<[[Int?]]>([])
        let head = "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 8\r\n\r\nfour"
        try await StubSources.run { _ in
            [.send(head), .wait(gate.futureResult), .send("more")]
        } testing: { stub in
            var request = OriginRequest(url: .object())
            request.onProgress = { partial in
                let report = [partial.receivedBytes, partial.expectedBytes]
                reports.withLock { $0.append(report) }
                gate.succeed()
            }
            let response = try await stub.sources.fetch(request)
            #expect(String(buffer: response.body) == "fourmore")
            #expect(reports.withLock(\.self) == [[4, 8], [8, 8]])
        }
    }

    @Test func `The bytes of an object count as in flight until they are released`() async throws {
        try await StubSources.run { _ in
            [StubSources.object]
        } testing: { stub in
            var response: OriginResponse? = try await stub.sources.fetch(.object())
            #expect(stub.client.inFlightBytes == 7)
            #expect(response?.content.count == 7)
            response = nil
            #expect(stub.client.inFlightBytes == 0)
        }
    }

    @Test func `An object waits for the byte budget, and its deadline is not the store's fault`() async throws {
        let head = "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 100\r\n\r\n"
        let body = String(repeating: "x", count: 100)
        let change: (inout GuardedHTTPClient.Settings) -> Void = {
            ($0.maxInFlightBytes, $0.downloadTimeout) = (150, .seconds(5))
        }
        try await StubSources.run(change) { _ in
            [.send(head), .send(body)]
        } testing: { stub in
            let first = try await stub.sources.fetch(.object())
            #expect(await stub.sources.failure(of: .object("s3://media/b")) == .timedOut(.waiting))
            #expect(first.content.count == 100)
            #expect(stub.client.limits.circuits.count == 0)
        }
    }

    @Test func `Downloads of one bucket wait for each other`() async throws {
        let gate = NIOSingletons.posixEventLoopGroup.next().makePromise(of: Void.self)
        let serially: (inout GuardedHTTPClient.Settings) -> Void = { $0.downloadsPerHost = 1 }
        try await StubSources.run(serially) { _ in
            [.wait(gate.futureResult), StubSources.object]
        } testing: { stub in
            let (first, second) = (SourceURL.object(), SourceURL.object("s3://shop/sale/b"))
            let tasks = [first, second].map { url in Task { await stub.sources.failure(of: url) } }
            for await _ in stub.store.arrivals { break }
            #expect(stub.store.requests.count == 1)
            gate.succeed()
            for task in tasks { #expect(await task.value == nil) }
            #expect(stub.store.requests.count == 2)
        }
    }

    @Test func `A store that is gone is not asked until its rest is over, and a purge ends it`() async throws {
        let time = TestClock()
        try await StubSources.run(circuits: .forTests(time)) { _ in
            [.reset]
        } testing: { stub in
            let url = SourceURL.object()
            for _ in 0..<5 { #expect(await stub.sources.failure(of: url) == .unreachable(.reset)) }
            let count = stub.store.requests.count
            let other = SourceURL.object("s3://shop/sale/b")
            guard case .hostUnavailable = await stub.sources.failure(of: other) else {
                Issue.record("the store is asked for another source")
                return
            }
            #expect(stub.store.requests.count == count)
            stub.sources.clearOutages(ofHost: "unknown")
            guard case .hostUnavailable = await stub.sources.failure(of: url) else {
                Issue.record("another host's purge ends the outage")
                return
            }
            stub.sources.clearOutages(ofHost: "media")
            #expect(await stub.sources.failure(of: url) == .unreachable(.reset))
        }
    }
}
