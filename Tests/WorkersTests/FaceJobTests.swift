import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import Testing

@testable import DarkroomWorkers

/// Faces are found within the sandbox.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: WorkerSite.isSupported && FaceDetector.isBuiltIn))
struct FaceJobTests {
    private static func portrait() throws -> ByteBuffer {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.lastPathComponent != "Tests" { folder.deleteLastPathComponent() }
        let file = folder.deletingLastPathComponent().appendingPathComponent("Fixtures/faces/astronaut.jpg")
        return ByteBuffer(bytes: try Data(contentsOf: file))
    }

    private static func job(_ change: (inout Recipe) -> Void) throws -> ImageJob {
        var recipe = Recipe()
        change(&recipe)
        return ImageJob(source: try portrait(), chain: TransformChain(recipe), output: OutputOptions(format: .png))
    }

    @Test(arguments: [false, true])
    func `Each worker finds them, whether or not its zygote has made the detector`(isPrepared: Bool) async throws {
        let site = try await WorkerSite(
            .testing {
                // The second job has a worker that was forked after the first one.
                ($0.findsFaces, $0.maxJobs) = (isPrepared, 1)
            })
        let job = try Self.job {
            ($0.box, $0.fit, $0.position) = (Box(width: 90, height: 90), .cover, .faces(FaceFocus(.all)))
        }
        let expected = try InProcessImageProcessor().process(job) { false }
        #expect(expected.faces == 1)
        for _ in 0..<2 {
            let image = try site.processor.process(job) { false }
            #expect(image.faces == 1 && image.body == expected.body)
        }
        #expect(site.processor.statistics.failedStarts == 0)
    }

    @Test func `A worker hides them as this process does`() async throws {
        let site = try await WorkerSite(.testing { $0.findsFaces = true })
        let job = try Self.job { $0.redaction = Redaction(.pixelate) }
        let image = try site.processor.process(job) { false }
        #expect(try image.faces == 1 && image.body == InProcessImageProcessor().process(job) { false }.body)
    }
}
