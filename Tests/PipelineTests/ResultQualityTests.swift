import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// The quality that an image decided for itself, from every tier.
@Suite(.timeLimit(.minutes(5)))
struct ResultQualityTests {
    private func request(_ bench: Bench, _ output: OutputOptions) throws -> ImageRequest {
        var request = try bench.request(width: 40)
        request.output = output
        return request
    }

    @Test(arguments: [OutputOptions(format: .webp, target: .high), OutputOptions(format: .jpeg, maxBytes: 1)])
    func `A hit in memory and on disk has the quality of the miss`(output: OutputOptions) async throws {
        let bench = try Bench(.control("max-age=60"))
        let request = try request(bench, output)
        let made = try await bench.pipeline.image(for: request)
        let quality = try #require(made.quality)
        #expect(quality.fits == (output.maxBytes == nil))
        await bench.disk.waitForCount { $0 == 3 }
        await bench.settle()
        let inMemory = try await bench.pipeline.image(for: request)
        #expect(inMemory.cache.variant == .memory && inMemory.quality == quality)
        bench.memory.removeEverything()
        let onDisk = try await bench.pipeline.image(for: request)
        #expect(onDisk.cache.variant == .disk && onDisk.quality == quality)
    }

    @Test func `A fixed quality is not reported`() async throws {
        let bench = try Bench(.control("max-age=60"))
        #expect(
            try await bench.pipeline.image(for: request(bench, OutputOptions(format: .webp, quality: 50))).quality
                == nil)
    }
}
