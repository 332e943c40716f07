import DarkroomOrigin
import DarkroomPipeline
import DarkroomStore
import DarkroomTestOrigin
import DarkroomTransforms
import DarkroomVips
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import DarkroomExamples

/// Every example does what it says.
@Suite(.timeLimit(.minutes(1)))
struct ExampleTests {
    @Test func `Five lines make a picture 400 pixels wide`() async throws {
        try await withPicture { origin in
            let example = Thumbnails(pipeline: ImagePipeline(downloads: try .loopback))
            let picture = try await example.thumbnail(of: "http://127.0.0.1:\(origin.port)/photo.jpg")
            #expect(try picture.pixels.width == 400)
            #expect(try picture.pixels.height == 300)
        }
    }

    @Test func `A pipeline that nobody has set up asks public addresses only`() async throws {
        try await withPicture { origin in
            let url = "http://127.0.0.1:\(origin.port)/photo.jpg"
            let error = await #expect(throws: PipelineError.self) { try await Thumbnails().thumbnail(of: url) }
            guard case .notAllowed = error else { throw PipelineError.failed }
            #expect(origin.requests.isEmpty)
        }
    }

    @Test func `A transform of one's own changes the pixels`() async throws {
        try await withPicture { origin in
            let request = try ImageRequest(
                url: "http://127.0.0.1:\(origin.port)/photo.jpg", width: 400,
                output: OutputOptions(format: .jpeg, quality: 100))
            let plain = try await pipeline().image(for: request)
            let picture = try await pipeline(delegate: PixelateEverything()).image(for: request)
            #expect(picture.digest != plain.digest)
            let pixels = try picture.pixels
            let (corner, neighbour) = (try pixels.pixel(x: 80, y: 80), try pixels.pixel(x: 86, y: 86))
            #expect(zip(corner, neighbour).allSatisfy { abs($0 - $1) <= 3 })
        }
    }

    @Test func `A key filter of one's own makes mirrors share their pictures`() async throws {
        try await withPicture { origin in
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

    @Test func `A store of one's own is the second tier`() async throws {
        try await withPicture { origin in
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

    @Test func `A picture is shown while it is downloaded`() async throws {
        let pause = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        try await withPicture(progressive: true, pause: pause.futureResult) { origin in
            let request = try ImageRequest(url: "http://127.0.0.1:\(origin.port)/photo.jpg", width: 400)
            let screen = RecordingScreen { pause.succeed() }
            try await load(request, from: ImagePipeline(downloads: .loopback), onto: screen)
            let (pictures, fractions) = (await screen.pictures, await screen.fractions)
            #expect(pictures.count == 2)
            #expect(try pictures.map { try $0.pixels.width } == [400, 400])
            #expect(pictures.first != pictures.last)
            #expect(fractions == fractions.sorted())
            #expect(fractions.last == 1)
        }
    }

    private func pipeline(
        delegate: any ImagePipelineDelegate = DefaultPipelineDelegate(),
        keyFilter: any CacheKeyFilter = CanonicalURLFilter()
    ) throws -> ImagePipeline {
        let client = GuardedHTTPClient(
            settings: try .loopback, resolver: LoopbackResolver(),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
        return ImagePipeline(
            origin: client, memory: MemoryStore(budgetBytes: 1 << 20), delegate: delegate, keyFilter: keyFilter)
    }
}

/// Remembers what it was shown, and says when it was shown the first picture.
private actor RecordingScreen: Screen {
    private(set) var pictures: [Data] = []
    private(set) var fractions: [Double] = []
    private let onFirstPicture: @Sendable () -> Void

    init(onFirstPicture: @escaping @Sendable () -> Void) {
        self.onFirstPicture = onFirstPicture
    }

    func show(_ picture: Data) {
        pictures.append(picture)
        if pictures.count == 1 { onFirstPicture() }
    }

    func show(fraction: Double) { fractions.append(fraction) }
}
