import DarkroomRequests
import DarkroomTransforms
import NIOCore
import Testing

@testable import DarkroomWorkers

/// What a worker keeps from one job to the next: a planned job, and decoded images.
@Suite(.timeLimit(.minutes(5)), .enabled(if: WorkerSite.isSupported))
struct WorkerMemoryTests {
    /// A job that only a worker that has read the source before can do.
    private func sourceless(_ job: ImageJob) -> ImageJob {
        var job = job
        job.source = ByteBuffer(string: "no picture")
        return job
    }

    @Test func `A planned job goes on where it was planned, without its source being sent again`() async throws {
        let site = try await WorkerSite()
        let job = ImageJob.drawing()
        _ = try site.processor.plan(job)
        let made = try site.processor.process(sourceless(job)) { false }
        #expect(made.body == (try InProcessImageProcessor().process(job) { false }.body))
        // Once.
        #expect(throws: ImageProcessingError.unsupported) { try site.processor.process(sourceless(job)) { false } }
    }

    @Test func `A job within the allowance is processed at once, and another one goes on where it was planned`()
        async throws
    {
        let site = try await WorkerSite()
        let job = try ImageJob.png(identity: "a", width: 5)
        let plan = try InProcessImageProcessor().plan(job)
        let allowance = JobAllowance(memoryBytes: plan.estimatedMemoryBytes, work: plan.expectedWork)
        let attempt = try site.processor.attempt(job, within: allowance) { false }
        #expect(attempt.plan == plan)
        #expect(attempt.image?.body == (try InProcessImageProcessor().process(job) { false }.body))
        for (memory, work) in [(-1, 0.0), (0, -0.001)] {
            let less = JobAllowance(
                memoryBytes: allowance.memoryBytes + memory, work: allowance.work + work)
            let attempt = try site.processor.attempt(job, within: less) { false }
            #expect(attempt.plan == plan && attempt.image == nil)
            _ = try site.processor.process(sourceless(job)) { false }
        }
        // A drawing is never a usual job.
        let generous = JobAllowance(memoryBytes: .max, work: .infinity)
        #expect(try site.processor.attempt(.drawing(), within: generous) { false }.image == nil)
        let broken = sourceless(.drawing(identity: "other"))
        #expect(throws: ImageProcessingError.unsupported) {
            try site.processor.attempt(broken, within: generous) { false }
        }
    }

    @Test func `A job that differs in anything from the planned one is another job`() async throws {
        let site = try await WorkerSite()
        let job = ImageJob.drawing()
        var (quality, limits, cached) = (job, job, job)
        quality.output = OutputOptions(format: .png, interlaced: true)
        limits.limits.maxFrames = 3
        cached.cachesDecoded = true
        for other in [ImageJob.drawing(identity: "other"), .drawing(width: 21), quality, limits, cached] {
            _ = try site.processor.plan(job)
            #expect(throws: ImageProcessingError.unsupported) {
                try site.processor.process(sourceless(other)) { false }
            }
            site.processor.withdraw(job)
        }
    }

    @Test func `A planned job that is withdrawn, or has no name, is sent anew`() async throws {
        let site = try await WorkerSite()
        _ = try site.processor.plan(.drawing())
        site.processor.withdraw(.drawing())
        _ = try site.processor.plan(.drawing(identity: nil))
        for job in [ImageJob.drawing(), .drawing(identity: nil)] {
            #expect(throws: ImageProcessingError.unsupported) { try site.processor.process(sourceless(job)) { false } }
            _ = try site.processor.process(job) { false }
        }
    }

    @Test func `A planned job gives way to one that has no other worker, and is sent anew`() async throws {
        let site = try await WorkerSite()
        _ = try site.processor.plan(.drawing())
        let spare = try #require(site.pool.take(for: nil) { false })
        _ = try site.processor.process(.drawing(identity: "other")) { false }
        _ = try site.processor.process(.drawing()) { false }
        site.pool.release(spare.number, spare.decoded)
    }

    @Test func `A hot source keeps to the worker that has it decoded`() async throws {
        let site = try await WorkerSite(.testing { $0.workers = 3 })
        site.spread(over: 4)
        for width in 1...4 {
            _ = try site.processor.process(.drawing(identity: "other \(width)", cachesDecoded: true)) { false }
        }
        for width in 1...4 {
            _ = try site.processor.process(.png(identity: "hot", width: width)) { false }
        }
        #expect(site.processor.decoded.hits == 3)
        site.processor.removeDecoded(identity: "hot")
        _ = try site.processor.process(.png(identity: "hot", width: 5)) { false }
        #expect(site.processor.decoded.hits == 3)
    }

    @Test func `Pictures that are kept go when they are told to`() async throws {
        let site = try await WorkerSite()
        try await site.ready()
        for identity in ["a", "b"] { _ = try site.processor.process(.png(identity: identity, width: 5)) { false } }
        #expect(site.processor.decoded.entries == 2)
        site.processor.removeDecoded(identity: "a")
        #expect(site.processor.decoded.entries == 1)
        site.processor.shrinkMemory(toFraction: 0)
        #expect(site.processor.decoded.entries == 0)
        #expect(site.processor.decoded.misses == 2)
        _ = try site.processor.process(.png(identity: "a", width: 5)) { false }
    }

    @Test func `A worker that is busy forgets after its job`() async throws {
        let site = try await WorkerSite()
        _ = try site.processor.process(.png(identity: "a", width: 5)) { false }
        let worker = try #require(site.pool.take(for: "a") { false })
        site.processor.removeDecoded(identity: "a")
        #expect(site.processor.decoded.entries == 1)
        site.pool.release(worker.number, worker.decoded)
        #expect(site.processor.decoded.entries == 0)
    }
}

extension ImageJob {
    /// A raster picture, of which one decode serves every width.
    static func png(identity: String, width: Int) throws -> ImageJob {
        var job = ImageJob.drawing(identity: identity, width: width, cachesDecoded: true)
        job.source = try InProcessImageProcessor().process(.drawing(width: 40)) { false }.body
        return job
    }
}
