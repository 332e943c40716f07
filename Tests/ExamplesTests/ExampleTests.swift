import DarkroomCache
import DarkroomOrigin
import DarkroomPipeline
import DarkroomRequests
import DarkroomStore
import DarkroomTestOrigin
import DarkroomVips
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import DarkroomExamples

/// Each example does what its document states.
@Suite(.timeLimit(.minutes(5)))
struct ExampleTests {
    @Test func `Five lines make an image 400 pixels wide`() async throws {
        try await withImage { origin in
            let example = Thumbnails(pipeline: ImagePipeline(downloads: try .loopback))
            let image = try await example.thumbnail(of: "http://127.0.0.1:\(origin.port)/photo.jpg")
            #expect(try image.pixels.width == 400)
            #expect(try image.pixels.height == 300)
        }
    }

    @Test func `A pipeline with default settings contacts public addresses only`() async throws {
        try await withImage { origin in
            let url = "http://127.0.0.1:\(origin.port)/photo.jpg"
            let error = await #expect(throws: PipelineError.self) { try await Thumbnails().thumbnail(of: url) }
            guard case .notAllowed = error else { throw PipelineError.failed }
            #expect(origin.requests.isEmpty)
        }
    }

    @Test func `A custom transform changes the pixels`() async throws {
        try await withImage { origin in
            let request = try ImageRequest(
                url: "http://127.0.0.1:\(origin.port)/photo.jpg", width: 400,
                output: OutputOptions(format: .jpeg, quality: 100))
            let plain = try await pipeline().image(for: request)
            let image = try await pipeline(delegate: MedianEverywhere()).image(for: request)
            #expect(image.digest != plain.digest)
            let roughness = try [plain.pixels, image.pixels].map { pixels in
                let row = try (0..<200).map { try pixels.pixel(x: $0, y: 80)[0] }
                return zip(row, row.dropFirst()).reduce(0) { $0 + abs($1.0 - $1.1) }
            }
            #expect(roughness[1] < roughness[0])
        }
    }

    @Test func `A custom key filter makes mirrors share their images`() async throws {
        try await withImage { origin in
            let pipeline = try pipeline(keyFilter: MirrorFilter())
            for host in ["img1", "img2"] {
                _ = try await pipeline.image(
                    for: ImageRequest(url: "http://\(host).example.com:\(origin.port)/photo.jpg", width: 400))
            }
            #expect(origin.requests.count == 1)
            _ = try await pipeline.image(
                for: ImageRequest(url: "http://img.example.org:\(origin.port)/photo.jpg", width: 400))
            #expect(origin.requests.count == 2)
        }
    }

    @Test func `A custom store is the second tier`() async throws {
        try await withImage { origin in
            let disk = DictionaryStore()
            let request = try ImageRequest(url: "http://127.0.0.1:\(origin.port)/photo.jpg", width: 400)
            _ = try await ImagePipeline(downloads: .loopback, disk: disk).image(for: request)
            let later = ImagePipeline(downloads: try .loopback, disk: disk)
            #expect(try await later.image(for: request).cache.variant == .disk)
            #expect(await later.purge(.host("127.0.0.1"), dryRun: true).entries == 3)
            #expect(await later.purge(.prefix("http://127.0.0.1"), dryRun: true).sourceCount == 1)
            #expect(await later.purge(.host("example.com"), dryRun: true).entries == 0)
            await later.purge(.everything)
            #expect(await later.location(of: request) == CacheLocation())
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `The progress of a download is shown, and then the image`() async throws {
        let pause = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        try await withImage(pause: pause.futureResult) { origin in
            let request = try ImageRequest(url: "http://127.0.0.1:\(origin.port)/photo.jpg", width: 400)
            let screen = RecordingScreen { pause.succeed() }
            try await load(request, from: ImagePipeline(downloads: .loopback), onto: screen)
            let (images, fractions) = (await screen.images, await screen.fractions)
            #expect(try images.map { try $0.pixels.width } == [400])
            #expect(fractions.count > 1 && fractions == fractions.sorted())
            #expect(fractions.last == 1)
        }
    }

    private func pipeline(
        delegate: any ImagePipelineDelegate = DefaultPipelineDelegate(),
        keyFilter: any CacheKeyFilter = CanonicalURLFilter()
    ) throws -> ImagePipeline {
        let client = GuardedHTTPClient(
            settings: try .loopback, nameLookup: LoopbackNameLookup(),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
        return ImagePipeline(
            origin: client, memory: MemoryStore(budgetBytes: 1 << 20), delegate: delegate, keyFilter: keyFilter)
    }
}

/// Records what it is shown, and calls back at the first image.
private actor RecordingScreen: Screen {
    private(set) var images: [Data] = []
    private(set) var fractions: [Double] = []
    private let onFirstFraction: @Sendable () -> Void

    init(onFirstFraction: @escaping @Sendable () -> Void) {
        self.onFirstFraction = onFirstFraction
    }

    func show(_ image: Data) { images.append(image) }

    func show(fraction: Double) {
        fractions.append(fraction)
        if fractions.count == 1 { onFirstFraction() }
    }
}
