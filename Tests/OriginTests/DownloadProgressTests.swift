import Crypto
import DarkroomMachine
import DarkroomNetwork
import DarkroomOrigin
import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DownloadProgressTests {
    /// The progress reports of a request: bytes received and expected.
    private final class Reports: Sendable {
        private let reports = Mutex<[PartialOriginal]>([])
        let news: AsyncStream<Void>
        private let signal: AsyncStream<Void>.Continuation

        init() { (news, signal) = AsyncStream.makeStream() }

        var all: [PartialOriginal] { reports.withLock { $0 } }

        func request(_ url: SourceURL) -> OriginRequest {
            var request = OriginRequest(url: url)
            request.onProgress = { [self] partial in
                reports.withLock { $0.append(partial) }
                signal.yield()
            }
            return request
        }
    }

    @Test func `Every part is reported on arrival, together with all before it`() async throws {
        let second = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        try await withOrigin { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\npict"), .wait(second.futureResult), .send("ure")]
        } _: { client, origin async throws in
            let reports = Reports()
            let request = reports.request(try origin.url())
            async let response = client.fetch(request)
            var news = reports.news.makeAsyncIterator()
            await news.next()
            #expect(reports.all.map(\.receivedBytes) == [4])
            second.succeed()
            #expect(try await String(buffer: response.body) == "picture")
            #expect(reports.all.map(\.receivedBytes) == [4, 7])
            #expect(reports.all.allSatisfy { $0.expectedBytes == 7 })
        }
    }

    @Test func `What the origin does not announce is not expected`() async throws {
        try await withOrigin { _ in
            [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\npicture\r\n0\r\n\r\n")]
        } _: { client, origin async throws in
            let reports = Reports()
            _ = try await client.fetch(reports.request(origin.url()))
            #expect(reports.all.last?.receivedBytes == 7)
            #expect(reports.all.allSatisfy { $0.expectedBytes == nil })
        }
    }

    @Test(arguments: [100, 1_000_000])
    func `A body is hashed while it arrives, and a large one is ready for another process`(count: Int) async throws {
        let body = ByteBuffer(bytes: (0..<count).map { UInt8(truncatingIfNeeded: $0 * 31 >> 3) })
        try await withOrigin { _ in
            [.respond(bytes: body)]
        } _: { client, origin async throws in
            let content = try await client.fetch(OriginRequest(url: origin.url())).content
            #expect(content.buffer == body)
            #expect(content.digest == SHA256.hash(data: Data(body.readableBytesView)))
            #if os(Linux)
                #expect((content.file != nil) == (count > 65_536))
            #endif
        }
    }

    @Test func `The body of a redirect is not reported`() async throws {
        try await withOrigin { request in
            request.target == "/" ? [.respond("302 Found", fields: ["Location: /b"], body: "gone")] : [.respond()]
        } _: { client, origin async throws in
            let reports = Reports()
            _ = try await client.fetch(reports.request(origin.url()))
            #expect(reports.all.allSatisfy { $0.expectedBytes == 7 })
        }
    }

    @Test func `Bytes above the limit are not reported`() async throws {
        try await withOrigin(try .loopback { $0.maxSourceBytes = 10 }) { _ in
            [.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), .sendForever("12345")]
        } _: { client, origin async throws in
            let reports = Reports()
            await #expect(throws: OriginError.tooLarge(limitBytes: 10)) {
                _ = try await client.fetch(reports.request(origin.url()))
            }
            #expect(reports.all.allSatisfy { $0.receivedBytes <= 10 })
        }
    }
}
