import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTestClock
import DarkroomTransforms
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

@Suite(.timeLimit(.minutes(5)))
struct ImagePipelineTests {
    private let wall = WallClock()
    private let disk = MemoryDisk()

    private func pipeline(
        _ origin: FakeOrigin, memoryBytes: Int = 1 << 20,
        delegate: any ImagePipelineDelegate = DefaultPipelineDelegate(),
        filter: any CacheKeyFilter = CanonicalURLFilter(), processing: any ImageProcessing = InProcessImageProcessor(),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> ImagePipeline {
        ImagePipeline(
            origin: origin,
            memory: MemoryStore(budgetBytes: memoryBytes), disk: disk, processing: processing, delegate: delegate,
            keyFilter: filter, now: { [wall] in wall.now }, clock: clock)
    }

    private func request(_ url: String = "http://example.com/a.png", width: Int? = 20) throws -> ImageRequest {
        var recipe = Recipe()
        recipe.box = Box(width: width, height: nil)
        return try ImageRequest(url: url, recipe: recipe)
    }

    @Test func `An uncached image is downloaded, made, and then found in memory`() async throws {
        let origin = FakeOrigin(try Pictures.png())
        let pipeline = pipeline(origin)
        let first = try await pipeline.image(for: request())
        #expect(first.cache == CacheReport(forwarded: .miss, originStatus: 200, isStored: true))
        #expect(first.format == .png)
        #expect(try SourceHeader(of: first.body).size == PixelSize(width: 20, height: 15))
        #expect(first.lastModified?.timeIntervalSince1970 == 784_111_777)
        let second = try await pipeline.image(for: request())
        #expect(second.cache == CacheReport(variant: .memory))
        #expect(second.body == first.body)
        #expect(second.digest == first.digest)
        #expect(origin.fetches.value == 1)
    }

    @Test func `After a restart the variant is found on disk`() async throws {
        let origin = FakeOrigin(try Pictures.png())
        let first = try await pipeline(origin).image(for: request())
        let restarted = pipeline(origin)
        let second = try await restarted.image(for: request())
        #expect(second.cache == CacheReport(variant: .disk))
        #expect(second.body == first.body)
        #expect(second.digest == first.digest)
        #expect(try await restarted.image(for: request()).cache.variant == .memory)
    }

    @Test(arguments: [(1 << 20, CacheReport.Tier.memory), (0, .disk)])
    func `The second width of a source downloads nothing`(memoryBytes: Int, tier: CacheReport.Tier) async throws {
        let origin = FakeOrigin(try Pictures.png())
        let pipeline = pipeline(origin, memoryBytes: memoryBytes)
        _ = try await pipeline.image(for: request(width: 20))
        // It is in use until the disk has it.
        await origin.released()
        let second = try await pipeline.image(for: request(width: 10))
        #expect(second.cache == CacheReport(original: tier, isStored: true))
        #expect(origin.fetches.value == 1)
    }

    @Test func `Two variants of one cold source cost one download and two productions`() async throws {
        let gate = Gate()
        let origin = FakeOrigin(try Pictures.png(), gate: gate)
        let processing = CountingProcessor()
        let pipeline = pipeline(origin, processing: processing)
        async let first = pipeline.image(for: request(width: 20))
        async let second = pipeline.image(for: request(width: 10))
        await origin.fetches.reaches(1)
        gate.open()
        #expect(try SourceHeader(of: await first.body).size.width == 20)
        #expect(try SourceHeader(of: await second.body).size.width == 10)
        #expect(origin.fetches.value == 1)
        #expect(processing.runs.value == 2)
    }

    @Test func `Two hundred requests for one cold variant cost one download and one production`() async throws {
        let gate = Gate()
        let origin = FakeOrigin(try Pictures.png(), gate: gate)
        let processing = CountingProcessor()
        let pipeline = pipeline(origin, processing: processing)
        let request = try request()
        try await withThrowingTaskGroup(of: ImageResponse.self) { group in
            for _ in 0..<200 { group.addTask { try await pipeline.image(for: request) } }
            await origin.fetches.reaches(1)
            gate.open()
            var collapsed = 0
            for try await response in group {
                #expect(response.format == .png)
                // Requests that came after the answer found the image, or shared its production.
                if response.cache.isShared || response.cache.forwarded == nil { collapsed += 1 }
            }
            #expect(collapsed == 199)
        }
        #expect(origin.fetches.value == 1)
        #expect(processing.runs.value == 1)
    }

    @Test func `When the last client leaves, the download is canceled`() async throws {
        let origin = FakeOrigin(try Pictures.png(), gate: Gate())
        let pipeline = pipeline(origin)
        let request = try request()
        let client = Task { try? await pipeline.image(for: request) }
        await origin.fetches.reaches(1)
        client.cancel()
        #expect(await client.value == nil)
        await origin.cancelled.reaches(1)
    }

    @Test func `Corrupt bytes are refused and not stored`() async throws {
        var broken = try Pictures.png(width: 300, height: 300)
        broken = broken.getSlice(at: 0, length: broken.readableBytes * 6 / 10) ?? broken
        let origin = FakeOrigin(broken)
        let pipeline = pipeline(origin)
        await #expect(throws: PipelineError.corrupt) { _ = try await pipeline.image(for: request()) }
        #expect(disk.count == 0)
    }

    @Test func `A request that times out says so and cancels the work`() async throws {
        let clock = TestClock()
        let origin = FakeOrigin(try Pictures.png(), gate: Gate())
        let pipeline = pipeline(origin, clock: clock)
        var request = try request()
        request.fallback = try SourceURL(parsing: "http://example.com/fallback.png")
        let client = Task { [request] in
            do throws(PipelineError) {
                _ = try await pipeline.image(for: request)
                return PipelineError?.none
            } catch {
                return error
            }
        }
        await origin.fetches.reaches(1)
        await clock.passSleep()
        #expect(await client.value == .timedOut)
        await origin.cancelled.reaches(1)
        #expect(origin.fetches.value == 1)
    }

    @Test(arguments: [
        (OriginError.localNotFound, PipelineError.notFound(status: nil)), (.loop, .loop),
        (.timedOut(.body), .originTimedOut(OriginFailure("", proxyError: .httpResponseIncomplete))),
        (.notAllowed(.address), .notAllowed("The source's address is not allowed.")),
        (.tooLarge(limitBytes: 5), .tooLarge("The source is larger than 5 bytes.")),
        (.unreachable(.dns), .originFailed(OriginFailure("", proxyError: .dnsError))),
        (.hostUnavailable(retryAfter: .milliseconds(1_500)), .originUnavailable(retryAfterSeconds: 2)),
    ])
    func `Each origin failure has its own error`(cause: OriginError, expected: PipelineError) async throws {
        let pipeline = pipeline(FakeOrigin(["*": .failure(cause)]))
        do throws(PipelineError) {
            _ = try await pipeline.image(for: ImageRequest(url: "http://example.com/a.png"))
            Issue.record("there is a picture")
        } catch {
            #expect(error.withoutSentence == expected)
        }
    }

    @Test func `A filter makes sources share entries while the download uses the real address`() async throws {
        let origin = FakeOrigin(try Pictures.png())
        let filter = QueryDroppingFilter(rules: [.init(hostPattern: "*", parameterPatterns: ["utm_*"])])
        let pipeline = pipeline(origin, filter: filter)
        _ = try await pipeline.image(for: request("http://example.com/a.png?utm_source=x&v=1"))
        let second = try await pipeline.image(for: request("http://example.com/a.png?v=1&utm_medium=y"))
        #expect(second.cache.variant == .memory)
        #expect(origin.requests.map(\.url.query) == ["utm_source=x&v=1"])
    }
}

extension PipelineError {
    /// The error without its sentence for clients.
    fileprivate var withoutSentence: PipelineError {
        switch self {
        case .originFailed(var trouble):
            trouble.sentence = ""
            return .originFailed(trouble)
        case .originTimedOut(var trouble):
            trouble.sentence = ""
            return .originTimedOut(trouble)
        default: return self
        }
    }
}
