import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import DarkroomVips
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// A custom transform, and a delegate that adds it to the chain.
private struct Pixelate: Transform {
    var block: Int
    var key: String { "pixelate(\(block))" }

    func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try picture.mapFrames { frame throws(VipsError) in
            try frame.applying("shrink", ["hshrink": .int(block), "vshrink": .int(block)])
                .applying("zoom", ["xfac": .int(block), "yfac": .int(block)])
        }
    }
}

private struct PixelateEverything: ImagePipelineDelegate {
    var block: Int

    func transforms(_ chain: TransformChain, for request: ImageRequest) -> TransformChain {
        TransformChain(chain.transforms + [Pixelate(block: block)])
    }
}

private struct Rules: ImagePipelineDelegate {
    var allowed = true
    var blocksFailures = false
    var refusesAnswers = false

    func shouldDownload(_ source: SourceURL) async -> Bool { allowed }

    func originFields(_ fields: HTTPFields, for source: SourceURL) async -> HTTPFields {
        var fields = fields
        fields[.authorization] = "Bearer of-ours"
        return fields
    }

    func accept(_ response: OriginResponse, for request: ImageRequest) async -> OriginResponse? {
        refusesAnswers ? nil : response
    }

    func shouldBlockFailedURL(_ source: SourceURL, error: PipelineError) async -> Bool { blocksFailures }
}

@Suite(.timeLimit(.minutes(5)))
struct ImagePipelineDelegateTests {
    private func pipeline(
        _ origin: FakeOrigin, _ delegate: any ImagePipelineDelegate, disk: MemoryDisk? = nil,
        wall: WallClock = WallClock()
    ) -> ImagePipeline {
        ImagePipeline(
            origin: origin, memory: MemoryStore(budgetBytes: 1 << 20), disk: disk, delegate: delegate,
            now: { wall.now })
    }

    private func request() throws -> ImageRequest { try ImageRequest(url: "http://example.com/a.png") }

    @Test func `A user's transform joins the chain and the variant key`() async throws {
        let bytes: [UInt8] = (0..<64).flatMap { [UInt8($0 * 4), 0, 0] }
        let stripes = try VipsImage.fromBytes(bytes, width: 8, height: 8, bands: 3)
            .applying("copy", ["interpretation": "srgb"])
        let origin = FakeOrigin(try VipsSaver.png.encode(stripes))
        let disk = MemoryDisk()
        let two = try await pipeline(origin, PixelateEverything(block: 2), disk: disk).image(for: request())
        let pixels = try VipsLoader.png.withImage(of: two.body) { image throws(VipsError) in
            (try image.pixel(x: 0, y: 0), try image.pixel(x: 1, y: 1), try image.pixel(x: 2, y: 0))
        }
        #expect(pixels.0 == pixels.1)
        #expect(pixels.0 != pixels.2)

        let four = try await pipeline(origin, PixelateEverything(block: 4), disk: disk).image(for: request())
        #expect(four.cache.variant == nil)
        #expect(four.digest != two.digest)
        #expect(origin.fetches.value == 1)
    }

    @Test func `A source that the delegate refuses is never fetched`() async throws {
        let origin = FakeOrigin(try Pictures.png())
        let pipeline = pipeline(origin, Rules(allowed: false))
        await #expect(throws: PipelineError.notAllowed("This source may not be downloaded.")) {
            _ = try await pipeline.image(for: request())
        }
        #expect(origin.fetches.value == 0)
    }

    @Test func `The delegate's header fields reach the origin`() async throws {
        let origin = FakeOrigin(try Pictures.png())
        _ = try await pipeline(origin, Rules()).image(for: request())
        #expect(origin.requests.first?.headers[.authorization] == "Bearer of-ours")
    }

    @Test func `A response that the delegate rejects fails the request`() async throws {
        let origin = FakeOrigin(try Pictures.png())
        let pipeline = pipeline(origin, Rules(refusesAnswers: true))
        let refusal = OriginFailure("This server's rules rejected the origin's response.")
        await #expect(throws: PipelineError.originFailed(refusal)) { _ = try await pipeline.image(for: request()) }
    }

    @Test func `The delegate is not consulted about a canceled request`() async throws {
        let gate = Gate()
        let origin = FakeOrigin(try Pictures.png(), gate: gate)
        let blocking = pipeline(origin, Rules(blocksFailures: true))
        let client = Task { try? await blocking.image(for: request()) }
        await origin.fetches.reaches(1)
        client.cancel()
        _ = await client.value
        await origin.cancelled.reaches(1)
        gate.open()
        _ = try await blocking.image(for: request())
    }

    @Test func `A failed source is blocked for a minute if the delegate says so`() async throws {
        let wall = WallClock()
        let origin = FakeOrigin(["*": .status(500)])
        let blocking = pipeline(origin, Rules(blocksFailures: true), wall: wall)
        for _ in 0..<3 { _ = try? await blocking.image(for: request()) }
        #expect(origin.fetches.value == 1)
        wall.advance(seconds: 61)
        _ = try? await blocking.image(for: request())
        #expect(origin.fetches.value == 2)
    }
}
