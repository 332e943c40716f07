import DarkroomMachine
import DarkroomTransforms
import NIOCore
import Testing

@testable import DarkroomWorkers

@Suite(.enabled(if: WorkerSite.isSupported))
struct SealedSourcesTests {
    @Test func `a source is sealed once for plan and picture, and only its own job's`() throws {
        let sources = SealedSourceCache(capacity: 1)
        let (first, second) = (ImageJob.drawing(identity: "first"), ImageJob.drawing(identity: "second"))
        let memory = try sources.take(first)
        sources.store(memory, of: first)
        #expect(try sources.take(second) !== memory)
        #expect(try sources.take(first) === memory)
        #expect(try sources.take(first) !== memory)
    }

    @Test func `a source that arrived in a memory file is not copied into another`() throws {
        let sources = SealedSourceCache(capacity: 1)
        var job = ImageJob.drawing(identity: "first")
        let file = try MemoryFile(copying: job.source)
        job.sharedSource = SharedBytes(file)
        #expect(try sources.take(job) === file)
        sources.store(file, of: job)
        #expect(try sources.take(.drawing(identity: "first")) !== file)
    }

    @Test func `the oldest is let go, and what has no name is never kept`() throws {
        let sources = SealedSourceCache(capacity: 1)
        let jobs = [ImageJob.drawing(identity: "first"), .drawing(identity: "second"), .drawing(identity: nil)]
        let memories = try jobs.map { job in
            let memory = try sources.take(job)
            sources.store(memory, of: job)
            return memory
        }
        #expect(try sources.take(jobs[0]) !== memories[0])
        #expect(try sources.take(jobs[1]) === memories[1])
        #expect(try sources.take(jobs[2]) !== memories[2])
    }
}
