import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import Synchronization
import Testing

@testable import DarkroomWorkers

/// A job that takes far more processor time than expected ends before the request's timeout.
@Suite(.timeLimit(.minutes(5)), .enabled(if: WorkerSite.isSupported))
struct OvertimeTests {
    private func site() async throws -> WorkerSite {
        try await WorkerSite(
            .testing { configuration in
                configuration.processorAllowance = .milliseconds(60)
                configuration.competingAllowance = .seconds(60)
            })
    }

    private static let photo = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/images/sample.jpg")

    /// A line that crosses itself millions of times takes seconds to draw.
    private func tangle(identity: String? = "tangle", width: Int = 300) -> ImageJob {
        let corners = (0..<6000).map { "L\($0 * 7919 % 1000) \($0 * 104_729 % 1000)" }.joined()
        var job = ImageJob.drawing(identity: identity, width: width)
        job.source = ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" width="1000" height="1000">\
                <path d="M0 0\(corners)" stroke="red" fill="none"/></svg>
                """)
        job.expectedWork = 1
        return job
    }

    /// A worker that computes until its scheduling policy, the 41st field, is SCHED_IDLE.
    private static var computingUntilIdle: String {
        get throws {
            let image = ProcessedImage(
                body: ByteBuffer(), format: .png, size: PixelSize(width: 20, height: 20), frames: 1, sourceFormat: .svg)
            let reply = WorkerReply(outcome: .image(image, nil), decoded: DecodedStatistics())
            return """
                hello; take
                while read -r line < /proc/$$/stat; set -- $line; [ "${41}" != 5 ]; do :; done
                \(ScriptLauncher.saying(try reply.encoded + [1])); take
                """
        }
    }

    private func isStopped(_ error: ImageProcessingError?) -> Bool {
        if case .tooLarge(let text) = error { text.contains("processor time") } else { false }
    }

    @Test func `A drawing that takes too long is stopped, and refused at once whatever is wanted of it`() async throws {
        let site = try await site()
        let error = #expect(throws: ImageProcessingError.self) { try site.processor.process(tangle()) { false } }
        #expect(isStopped(error))
        #expect(site.processor.statistics.ended == [.overtime: 1])
        let again = #expect(throws: ImageProcessingError.self) {
            try site.processor.process(tangle(width: 40)) { false }
        }
        #expect(isStopped(again))
        #expect(site.processor.statistics.refused == 1)
        #expect(try site.processor.process(.drawing()) { false }.size.width == 20)
    }

    @Test func `Of another image, only the same work is refused`() async throws {
        let site = try await site()
        var job = ImageJob(
            source: ByteBuffer(bytes: try Data(contentsOf: Self.photo)), identity: "photo",
            chain: TransformChain(Recipe()), output: OutputOptions(format: .webp, lossless: true))
        job.expectedWork = 1
        let error = #expect(throws: ImageProcessingError.self) { try site.processor.process(job) { false } }
        #expect(isStopped(error))
        #expect(throws: ImageProcessingError.self) { try site.processor.process(job) { false } }
        #expect(site.processor.statistics.refused == 1)
        job.output = OutputOptions(format: .png)
        job.expectedWork = 10_000
        #expect(try site.processor.process(job) { false }.format == .png)
    }

    @Test func `A drawing that takes long yields the processor, and its worker is replaced`() async throws {
        let site = try await WorkerSite(script: try Self.computingUntilIdle) { $0.processorAllowance = .seconds(2) }
        let first = site.workers
        var job = ImageJob.drawing()
        job.expectedWork = 1
        #expect(try site.processor.process(job) { false }.size.width == 20)
        try await site.until { site in site.processor.statistics.ended == [.recycled: 1] }
        #expect(site.workers.subtracting(first).count == 1 && !first.isSubset(of: site.workers))
    }

    @Test func `After a drawing was stopped, further drawings of its client yield from their start`() async throws {
        let site = try await WorkerSite(script: try Self.computingUntilIdle) { configuration in
            configuration.processorAllowance = .milliseconds(60)
            configuration.competingAllowance = .seconds(60)
        }
        var job = ImageJob.drawing(identity: "first")
        job.expectedWork = 1
        job.client = "one"
        let error = #expect(throws: ImageProcessingError.self) { try site.processor.process(job) { false } }
        #expect(isStopped(error))
        job.identity = "second"
        #expect(try site.processor.process(job) { false }.size.width == 20)
        // The script of a worker answers one job.
        try await site.until { site in site.processor.statistics.ended == [.overtime: 1, .recycled: 1] }
        job.client = "other"
        job.identity = "third"
        #expect(isStopped(#expect(throws: ImageProcessingError.self) { try site.processor.process(job) { false } }))
    }

    @Test func `A job in its time, or of unknown time, is not stopped`() async throws {
        let site = try await site()
        var job = tangle()
        job.expectedWork = 60_000
        #expect(try site.processor.process(job) { false }.size.width == 300)
        job.identity = "other"
        job.expectedWork = nil
        #expect(try site.processor.process(job) { false }.size.width == 300)
    }

    @Test(arguments: [WorkerStatistics.EndReason.overtime, .hung])
    func `Stopped jobs are no crash loop: expensive images and clients that leave keep the server healthy`(
        reason: WorkerStatistics.EndReason
    ) async throws {
        let site = try await site()
        site.pool.state.withLock { state in
            for _ in 0..<100 { state.recordDeath(reason, limit: site.pool.crashLoopDeaths) }
        }
        #expect(site.processor.isHealthy)
    }

    @Test func `A worker that yields the processor gets no other job`() async throws {
        let site = try await WorkerSite()
        var lent: [WorkerPool.Lent] = []
        for _ in 0..<2 { lent.append(try #require(site.pool.take(for: nil) { false })) }
        lent[0].process.yieldProcessor()
        site.pool.release(lent[0].number, lent[0].decoded)
        let next = try #require(site.pool.take(for: nil) { false })
        #expect(next.number != lent[0].number)
    }

    @Test func `The budget of a job is its expected time several times over, and has a floor and a ceiling`() {
        var configuration = WorkerConfiguration(workers: 1)
        configuration.processorAllowance = .seconds(1)
        #expect(configuration.processorBudget(expectedWork: 0, limit: 8000) == .seconds(1))
        #expect(configuration.processorBudget(expectedWork: 1000, limit: 8000) == .seconds(5))
        #expect(configuration.processorBudget(expectedWork: .infinity, limit: 8000) == .seconds(17))
    }

    @Test(arguments: [0, 20, 1000])
    func `A drawing competes with other jobs for its expected time and a little more`(expectedMilliseconds: Int) {
        let configuration = WorkerConfiguration(workers: 1)
        let budget = configuration.processorBudget(expectedWork: Double(expectedMilliseconds), limit: 8000)
        #expect(configuration.competingTime(budget: budget) == .milliseconds(expectedMilliseconds + 50))
    }
}
