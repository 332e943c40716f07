import DarkroomHTTPServer
import DarkroomLoading
import DarkroomRequests
import DarkroomTestClock
import DarkroomWaiting
import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomTransforms
@testable import DarkroomWeb

/// Makes texts for images of one megapixel, and holds AVIF up while the gate is closed. Images whose text names a
/// drawing are WebP where the client accepts it.
private final class GatedProcessor: ImageProcessing {
    let gate = ProcessingGate()
    private let formats = Mutex<[OutputFormat]>([])

    func count(of format: OutputFormat) -> Int { formats.withLock { $0.count { $0 == format } } }

    func plan(_ job: ImageJob, interrupt: @escaping @Sendable () -> Bool) throws(ImageProcessingError) -> ImagePlan {
        let size = PixelSize(width: 1_000, height: 1_000)
        return ImagePlan(
            sourceFormat: .jpeg, sourceSize: size, sourceFrames: 1, sourceBytes: 1, framesUsed: 1, shrinkOnLoad: 1,
            steps: [], format: job.output.format ?? .jpeg, size: size, frames: 1, isExact: true, largest: size,
            estimatedMemoryBytes: 1, webPChoiceWork: job.output.mayYieldToWebP ? 0 : nil)
    }

    func process(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ProcessedImage {
        var format = job.output.format ?? .jpeg
        formats.withLock { $0.append(format) }
        if format == .avif { gate.pass() }
        if job.output.mayYieldToWebP, String(buffer: job.source).contains("drawing") { format = .webp }
        return ProcessedImage(
            body: ByteBuffer(string: "\(format) of \(String(buffer: job.source))"), format: format,
            size: PixelSize(width: 1_000, height: 1_000), frames: 1, sourceFormat: .jpeg)
    }
}

/// Two-step AVIF over a socket.
@Suite(.timeLimit(.minutes(5)))
struct TwoStepTests {
    private static let avif = "image/avif,image/webp,*/*;q=0.8"
    private let processor = GatedProcessor()

    private func server(clock: TestClock = TestClock()) throws -> HitServer {
        var configuration = WebConfiguration.test(token: "t")
        configuration.negotiation.formats = try #require(FormatList(parsing: "avif,webp"))
        return HitServer(configuration, clock: clock, processing: processor)
    }

    private func ask(
        _ client: inout HitClient, _ name: String, isPlain: Bool = true, accept: String? = Self.avif,
        method: String = "GET", fields: [String] = []
    ) async throws -> ReceivedResponse {
        let lines =
            ["\(method) /image?url=http://a.org/\(name) HTTP/1.1", "Host: x"] + fields
            + (accept.map { ["Accept: \($0)"] } ?? []) + (isPlain ? [] : ["Content-Length: 0"])
        try await client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return try await client.response(toHead: method == "HEAD")
    }

    @Test(arguments: [true, false])
    func `The first answer is WebP for a moment, and AVIF follows with its whole lifetime`(isFast: Bool) async throws {
        let server = try server()
        processor.gate.close()
        try await server.run { address in
            var client = try await HitClient(address)
            let first = try await ask(&client, "modified", isPlain: isFast)
            #expect(first.status == "HTTP/1.1 200 OK")
            #expect(first.fields["content-type"] == ["image/webp"])
            #expect(first.fields["cache-control"] == ["public, max-age=10"])
            #expect(first.fields["vary"] == ["Accept"] && first.fields["age"] == ["0"])
            #expect(first.fields["last-modified"] == nil)
            let tag = try #require(first.fields["etag"]?.first)
            await processor.gate.holdsThread()

            let head = try await ask(&client, "modified", isPlain: isFast, method: "HEAD")
            #expect(head.fields["content-type"] == ["image/webp"] && head.fields["etag"] == [tag])
            #expect(head.fields["cache-control"] == ["public, max-age=10"])
            let known = try await ask(&client, "modified", isPlain: isFast, fields: ["If-None-Match: \(tag)"])
            #expect(known.status == "HTTP/1.1 304 Not Modified")
            #expect(known.fields["cache-control"] == ["public, max-age=10"])
            let since = "If-Modified-Since: Sun, 06 Nov 1994 08:00:00 GMT"
            #expect(try await ask(&client, "modified", isPlain: isFast, fields: [since]).status == "HTTP/1.1 200 OK")
            let other = try await ask(&client, "modified", isPlain: isFast, accept: "image/webp")
            #expect(other.body == first.body && other.fields["cache-control"] == ["public, max-age=3600"])
            #expect(other.fields["last-modified"] != nil)

            processor.gate.open()
            await server.pipeline.resolver.upgrades.jobs.drain()
            let second = try await ask(&client, "modified", isPlain: isFast, fields: ["If-None-Match: \(tag)"])
            #expect(second.status == "HTTP/1.1 200 OK" && second.fields["content-type"] == ["image/avif"])
            #expect(second.fields["cache-control"] == ["public, max-age=3600"])
            #expect(second.fields["vary"] == ["Accept"] && second.fields["last-modified"] != nil)
            #expect(second.fields["etag"] != [tag])
            #expect(
                try await ask(&client, "modified", isPlain: isFast, fields: [since]).status
                    == "HTTP/1.1 304 Not Modified")
            try await client.close()
        }
        #expect(processor.count(of: .avif) == 1 && processor.count(of: .webp) == 1)
    }

    @Test func `No lifetime of an interim answer outlives its moment`() async throws {
        let server = try server()
        processor.gate.close()
        try await server.run { address in
            var client = try await HitClient(address)
            let first = try await ask(&client, "immutable")
            #expect(first.fields["cache-control"] == ["public, max-age=10"])
            let longer = try await ask(&client, "immutable&maxage=1h")
            #expect(longer.fields["cache-control"] == ["public, max-age=10"])
            processor.gate.open()
            try await client.close()
        }
    }

    @Test func `The moment of an interim answer is not extended by the age of its original`() async throws {
        let clock = TestClock()
        let server = try server(clock: clock)
        processor.gate.close()
        try await server.run { address in
            var client = try await HitClient(address)
            _ = try await ask(&client, "fresh", accept: nil)
            clock.advance(by: .seconds(3_000))
            let interim = try await ask(&client, "fresh")
            #expect(interim.fields["cache-control"] == ["public, max-age=10"])
            #expect(interim.fields["age"] == ["0"])
            clock.advance(by: .seconds(596))
            let last = try await ask(&client, "fresh")
            #expect(last.fields["cache-control"] == ["public, max-age=4"])
            processor.gate.open()
            try await client.close()
        }
    }

    @Test func `A drawing that AVIF would spoil stays WebP with its tag, and gets its whole lifetime`() async throws {
        let server = try server()
        try await server.run { address in
            var client = try await HitClient(address)
            let first = try await ask(&client, "fresh-drawing")
            #expect(first.fields["content-type"] == ["image/webp"])
            #expect(first.fields["cache-control"] == ["public, max-age=10"])
            let tag = try #require(first.fields["etag"]?.first)
            await server.pipeline.resolver.upgrades.jobs.drain()
            let known = try await ask(&client, "fresh-drawing", fields: ["If-None-Match: \(tag)"])
            #expect(known.status == "HTTP/1.1 304 Not Modified")
            #expect(known.fields["cache-control"] == ["public, max-age=3600"])
            let second = try await ask(&client, "fresh-drawing")
            #expect(second.fields["content-type"] == ["image/webp"] && second.body == first.body)
            #expect(second.fields["vary"] == ["Accept"] && second.fields["etag"] == [tag])
            #expect(second.fields["cache-status"]?.first?.contains("hit") == true)
            let other = try await ask(&client, "fresh-drawing", accept: "image/avif")
            #expect(other.fields["content-type"] == ["image/avif"])
            #expect(try await ask(&client, "fresh-drawing").fields["content-type"] == ["image/webp"])
            try await client.close()
        }
        #expect(processor.count(of: .avif) == 2 && processor.count(of: .webp) == 1)
    }

    @Test func `A request with wait=best gets AVIF`() async throws {
        let server = try server()
        try await server.run { address in
            var client = try await HitClient(address)
            let image = try await ask(&client, "fresh&wait=best")
            #expect(image.fields["content-type"] == ["image/avif"])
            #expect(image.fields["cache-control"] == ["public, max-age=3600"])
            try await client.close()
        }
        #expect(processor.count(of: .webp) == 0)
    }

    @Test func `Once made, the image in each form is answered in front of the framework`() async throws {
        let server = try server()
        try await server.run { address in
            var client = try await HitClient(address)
            let accepts = [Self.avif, "image/webp", nil]
            for accept in accepts {
                _ = try await ask(&client, "fresh", accept: accept)
                await server.pipeline.resolver.upgrades.jobs.drain()
                _ = try await ask(&client, "fresh", accept: accept)
            }
            let before = server.answers.count
            let types = ["image/avif", "image/webp", "image/jpeg"]
            for (accept, type) in zip(accepts, types) {
                #expect(try await ask(&client, "fresh", accept: accept).fields["content-type"] == [type])
            }
            #expect(server.answers.count == before + 3)
            // Another text that means the same is the same image.
            _ = try await ask(&client, "fresh", accept: "text/html, image/webp;q=0.9, image/avif")
            #expect(server.answers.count == before + 4)
            try await client.close()
        }
        for format in [OutputFormat.avif, .webp, .jpeg] { #expect(processor.count(of: format) == 1) }
    }

    @Test func `An image that was prefetched for AVIF is answered in AVIF`() async throws {
        let formats = try #require(FormatList(parsing: "avif,webp"))
        let body = try PrefetchBody(parsing: Data(#"{"urls": ["http://a.org/fresh"]}"#.utf8))
        let items = try PrefetchGrammar(negotiation: NegotiationPolicy(formats: formats))
            .images(of: body, accept: Self.avif)
        #expect(items.map(\.request.output.format) == [.avif] && items[0].request.interim == nil)
        let server = try server()
        let prefetcher = Prefetcher(server.pipeline)
        let job = try prefetcher.start(items)
        for await _ in job.updates {}
        try await server.run { address in
            var client = try await HitClient(address)
            let image = try await ask(&client, "fresh")
            #expect(image.fields["content-type"] == ["image/avif"])
            #expect(image.fields["cache-status"]?.first?.contains("hit") == true)
            try await client.close()
        }
        #expect(processor.count(of: .webp) == 0)
    }

    // MARK: Other fields

    @Test func `Clients that save data and others get their own hits`() async throws {
        let server = HitServer(.test(token: "t"), clock: TestClock())
        try await server.run { address in
            var client = try await HitClient(address)
            for _ in 0..<3 {
                let saving = try await ask(
                    &client, "fresh&slow_q=40", accept: "image/webp", fields: ["Save-Data: on"])
                #expect(saving.body == "webp of bytes of fresh at 40 quality")
                #expect(saving.fields["vary"] == ["Accept, Save-Data, ECT, RTT, Downlink"])
                let other = try await ask(&client, "fresh&slow_q=40", accept: "image/webp")
                #expect(other.body == "webp of bytes of fresh at any quality")
            }
            #expect(server.answers.count == 4)
            try await client.close()
        }
    }

    @Test func `Client hints choose the image although its target is known`() async throws {
        var configuration = WebConfiguration.test(token: "t")
        configuration.negotiation.usesClientHints = true
        let server = HitServer(configuration, clock: TestClock())
        try await server.run { address in
            var client = try await HitClient(address)
            for _ in 0..<3 { _ = try await ask(&client, "fresh", accept: "image/webp") }
            #expect(server.answers.count == 2)
            let hinted = try await ask(&client, "fresh", accept: "image/webp", fields: ["Sec-CH-Width: 300"])
            #expect(hinted.fields["cache-status"]?.first?.contains("hit") == false)
            #expect(hinted.fields["accept-ch"] == ["Sec-CH-DPR, Sec-CH-Width"])
            #expect(hinted.fields["vary"] == ["Accept, Sec-CH-DPR, Sec-CH-Width"])
            let again = try await ask(&client, "fresh", accept: "image/webp", fields: ["Sec-CH-Width: 299"])
            #expect(again.fields["cache-status"]?.first?.contains("hit") == true)
            #expect(server.answers.count == 2)
            try await client.close()
        }
    }
}
