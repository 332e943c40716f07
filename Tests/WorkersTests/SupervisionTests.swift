import DarkroomCSandbox
import DarkroomMachine
import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import Synchronization
import Testing

@testable import DarkroomWorkers

@Suite(.timeLimit(.minutes(5)), .enabled(if: WorkerSite.isSupported))
struct SupervisionTests {
    @Test func `A job that crashes its worker fails alone, and is refused from then on`() async throws {
        let site = try await WorkerSite()
        await #expect(throws: ImageProcessingError.corrupt("decoding crashed a worker: signal 11")) {
            try await site.process(.drawing()) { worker, call in
                if call == 1 { site.signal(SIGSEGV, [worker]) }
                site.signal(SIGCONT, [worker])
                return false
            }
        }
        // Other pictures go on, and the killer is not tried again, whatever is wanted of it.
        _ = try site.processor.process(.drawing(identity: "other")) { false }
        #expect(throws: ImageProcessingError.corrupt("decoding crashed a worker: signal 11")) {
            try site.processor.process(.drawing(width: 7)) { false }
        }
        try await site.ready()
        let statistics = site.processor.statistics
        #expect(statistics.ended == [.crashed: 1] && (2...3).contains(statistics.started))
        #expect(statistics.quarantined == 1 && statistics.refused == 1)
        site.processor.removeDecoded(identity: "drawing")
        _ = try site.processor.process(.drawing()) { false }
    }

    @Test func `A worker that ignores the end of its job is killed`() async throws {
        let site = try await WorkerSite()
        var job = ImageJob.drawing()
        job.client = "client"
        await #expect(throws: ImageProcessingError.interrupted) {
            try await site.process(job) { _, _ in true }
        }
        try await site.ready()
        #expect(site.processor.statistics.ended == [.hung: 1])
        #expect(site.pool.isPenalized("client"))
        // A client that disconnects early says nothing about the image.
        _ = try site.processor.process(.drawing()) { false }
    }

    @Test func `What hangs for long is not tried again, but less of it is`() async throws {
        let site = try await WorkerSite(.testing { $0.jobTimeout = .milliseconds(2) })
        await #expect(throws: ImageProcessingError.interrupted) {
            try await site.process(.drawing()) { _, _ in true }
        }
        #expect(throws: ImageProcessingError.interrupted) { try site.processor.process(.drawing()) { false } }
        #expect(site.processor.statistics.refused == 1)
        #expect(site.pool.quarantineError(for: .drawing(width: 7)) == nil)
    }

    @Test func `A job has an end although somebody always waits for it`() async throws {
        let site = try await WorkerSite(.testing { $0.jobTimeout = .milliseconds(2) })
        await #expect(throws: ImageProcessingError.interrupted) {
            try await site.process(.drawing()) { _, _ in false }
        }
        #expect(site.processor.statistics.ended == [.hung: 1])
    }

    @Test func `A worker that listens ends its job and stays`() async throws {
        let site = try await WorkerSite()
        let lent = try #require(site.pool.take(for: nil) { false })
        let worker = lent.process
        let job = ImageJob.drawing()
        site.signal(SIGSTOP, [worker.identifier])
        let encoded = try #require(EncodedJob(job))
        let source = try MemoryFile(copying: job.source)
        try worker.socket.send(WorkerRequest.process, body: encoded.bytes, attached: source.descriptor)
        try worker.socket.send(WorkerRequest.cancel)
        site.signal(SIGCONT, [worker.identifier])
        let reply = try worker.socket.receive(WorkerReply.self).message
        guard case .failure(.interrupted) = reply.outcome else {
            Issue.record("\(reply.outcome)")
            return
        }
        site.pool.release(lent.number, reply.decoded)
        _ = try site.processor.process(job) { false }
        #expect(site.processor.statistics.ended.isEmpty)
    }

    @Test func `A worker that has more in memory than it may is killed, and that work refused`() async throws {
        let site = try await WorkerSite(.testing { $0.memoryBytes = 1 << 20 })
        for _ in 0..<2 {
            try await site.ready()
            site.signal(SIGSTOP, site.workers)
            do throws(ImageProcessingError) {
                _ = try site.processor.process(.drawing()) { false }
                Issue.record("it was made")
            } catch {
                guard case .tooLarge = error else {
                    Issue.record("\(error)")
                    return
                }
            }
            site.signal(SIGCONT, site.workers)
        }
        #expect(site.processor.statistics.ended == [.memory: 1] && site.processor.statistics.refused == 1)
    }

    @Test func `A job whose worker somebody else kills is done by another`() async throws {
        let site = try await WorkerSite()
        let image = try await site.process(.drawing()) { worker, call in
            if call == 1 { site.signal(SIGKILL, [worker]) }
            return false
        }
        #expect(image.size == PixelSize(width: 20, height: 15))
        #expect(site.processor.statistics.ended == [.crashed: 1] && site.processor.statistics.quarantined == 0)
    }

    @Test func `A job whose workers are killed again and again is taken for the reason`() async throws {
        let site = try await WorkerSite(script: "hello; take; kill -KILL $$") { $0.workers = 2 }
        #expect(throws: ImageProcessingError.self) { try site.processor.process(.drawing()) { false } }
        #expect(site.processor.statistics.ended == [.crashed: 3] && site.processor.statistics.quarantined == 1)
    }

    @Test func `An idle worker that ends is replaced`() async throws {
        let site = try await WorkerSite()
        try await site.ready()
        let workers = site.workers
        site.signal(SIGKILL, workers)
        try await site.until { $0.processor.statistics.started == 2 }
        #expect(site.workers.isDisjoint(with: workers) && site.workers.count == 1)
        #expect(site.processor.isHealthy)
        _ = try site.processor.process(.drawing()) { false }
    }

    @Test func `The CPU time of workers includes workers that have exited`() async throws {
        let site = try await WorkerSite()
        while site.processor.statistics.processorSeconds <= 0.05 {
            _ = try site.processor.process(.drawing()) { false }
        }
        let before = site.processor.statistics.processorSeconds
        let workers = site.workers
        site.signal(SIGKILL, workers)
        try await site.until { $0.workers.isDisjoint(with: workers) }
        let known = site.pool.state.withLock { $0.table.processorMilliseconds }
        #expect(Double(known) >= 1000 * before - 5)
        #expect(site.processor.statistics.processorSeconds >= before)
    }

    @Test func `A worker that ends after its job is replaced too`() async throws {
        let site = try await WorkerSite()
        // The supervisor sleeps by now or soon, and both have been busy since.
        let taken = (0..<2).compactMap { _ in site.pool.take(for: nil) { false } }
        site.pool.wakePipe.wake()
        try await site.until { !$0.pool.wakePipe.isSignaled }
        for worker in taken { site.pool.release(worker.number, worker.decoded) }
        site.signal(SIGKILL, site.workers)
        try await site.until { $0.processor.statistics.started == 3 }
    }

    @Test func `Workers are forked when jobs need them, one ahead and no more than configured`() async throws {
        let site = try await WorkerSite(.testing { $0.workers = 2 })
        #expect(site.workers.count == 1)
        var lent: [WorkerPool.Lent] = []
        for expected in [2, 3, 3] {
            lent.append(try #require(site.pool.take(for: nil) { false }))
            try await site.until { $0.workers.count == expected }
        }
        #expect(site.pool.take(for: nil) { true } == nil)
        for worker in lent { site.pool.release(worker.number, worker.decoded) }
        #expect(site.processor.statistics.configured == 1 && site.processor.statistics.ready == 3)
    }

    @Test func `Workers that are no longer needed exit, except one and the holders of images`() async throws {
        let site = try await WorkerSite(.testing { ($0.workers, $0.idleTimeout) = (2, .zero) })
        let lent = (0..<3).compactMap { _ in site.pool.take(for: nil) { false } }
        site.pool.release(lent[0].number, DecodedStatistics(entries: 1, bytes: 1))
        for worker in lent.dropFirst() { site.pool.release(worker.number, worker.decoded) }
        site.pool.wakePipe.wake()
        try await site.until { $0.processor.statistics.ended == [.idle: 2] }
        #expect(site.workers == [lent[0].process.identifier])
    }

    @Test func `Workers that have done their share are replaced, and jobs don't notice`() async throws {
        let site = try await WorkerSite(.testing { $0.maxJobs = 2 })
        try await site.ready()
        let workers = site.workers
        for number in 0..<6 { _ = try site.processor.process(.drawing(identity: "\(number)")) { false } }
        try await site.until { $0.processor.statistics.ended[.recycled] ?? 0 >= 2 }
        try await site.ready()
        #expect(site.workers.isDisjoint(with: workers))
        #expect(site.processor.statistics.ended.keys.allSatisfy { $0 == .recycled })
    }

    @Test func `With one job for each worker, no two jobs share a process`() async throws {
        let site = try await WorkerSite(.testing { $0.maxJobs = 1 })
        var seen: [Int32] = []
        for _ in 0..<4 {
            let lent = try #require(site.pool.take(for: "same") { false })
            seen.append(lent.process.identifier)
            site.pool.release(lent.number, lent.decoded)
        }
        #expect(Set(seen).count == 4)
        for number in 0..<4 {
            let job = ImageJob.drawing(identity: "\(number)")
            _ = try site.processor.plan(job) { false }
            #expect(try site.processor.process(job) { false }.size == PixelSize(width: 20, height: 15))
        }
        try await site.until { $0.processor.statistics.ended == [.recycled: 8] }
    }

    @Test func `A worker that has planned its last job processes it, and no other job`() async throws {
        let site = try await WorkerSite(.testing { $0.maxJobs = 1 })
        let jobs = ["one", "other"].compactMap { EncodedJob(ImageJob.drawing(identity: $0)) }
        let first = try #require(site.pool.take(for: nil) { false })
        site.pool.release(first.number, first.decoded, planned: jobs[0])
        let second = try #require(site.pool.take(for: nil, planned: jobs[1]) { false })
        #expect(second.number != first.number && !second.isPlanned)
        let again = try #require(site.pool.take(for: nil, planned: jobs[0]) { false })
        #expect(again.number == first.number && again.isPlanned)
    }

    @Test func `Planned jobs that nobody comes for do not keep all workers`() async throws {
        let site = try await WorkerSite(.testing { $0.maxJobs = 1 })
        for name in ["one", "other"] {
            let lent = try #require(site.pool.take(for: nil) { false })
            site.pool.release(lent.number, lent.decoded, planned: EncodedJob(ImageJob.drawing(identity: name)))
        }
        #expect(site.pool.take(for: nil) { false } != nil)
        site.processor.withdraw(.drawing(identity: "other"))
        try await site.until { $0.processor.statistics.ended == [.recycled: 2] }
    }

    @Test func `Workers that have grown are replaced`() async throws {
        let site = try await WorkerSite(.testing { $0.recycledBytes = 1 })
        _ = try site.processor.process(.drawing()) { false }
        try await site.until { $0.processor.statistics.ended[.recycled] ?? 0 >= 1 }
    }

    @Test func `A worker that is replaced does not take the place of another one with it`() async throws {
        let site = try await WorkerSite(.testing { $0.recycledBytes = 1 })
        // Each image ends its worker just as the worker becomes idle, while its successor may be ready.
        for _ in 1...100 { _ = try site.processor.process(.drawing()) { false } }
        #expect(site.processor.statistics.ended[.crashed] == nil)
    }

    @Test func `Stopped workers are gone, and jobs end`() async throws {
        let site = try await WorkerSite()
        try await site.ready()
        let workers = site.workers
        site.processor.stop()
        #expect(throws: ImageProcessingError.interrupted) { try site.processor.process(.drawing()) { false } }
        try await site.until { _ in workers.allSatisfy { kill($0, 0) != 0 } }
    }

    @Test func `Deaths one after the other are a crash loop`() async throws {
        let site = try await WorkerSite()
        try await site.ready()
        for _ in 1..<site.pool.crashLoopDeaths { site.pool.state.withLock { $0.recordDeath(.crashed, limit: 10) } }
        #expect(site.processor.isHealthy)
        site.pool.state.withLock { $0.recordDeath(.crashed, limit: site.pool.crashLoopDeaths) }
        #expect(!site.processor.isHealthy)
    }

    @Test func `A zygote that ends is replaced, and its workers go on`() async throws {
        let site = try await WorkerSite()
        let launcher = try #require(site.launcher as? ZygoteLauncher)
        let (zygote, workers) = (try #require(launcher.identifier), site.workers)
        site.signal(SIGKILL, [zygote])
        try await site.until { _ in launcher.identifier.map { $0 != zygote } ?? false }
        _ = try site.processor.process(.drawing()) { false }
        #expect(site.workers.isSuperset(of: workers) && site.processor.statistics.ended.isEmpty)
        try await site.ready()
        // The next one is forked by the new one.
        site.signal(SIGKILL, workers)
        try await site.until { $0.processor.statistics.started >= 2 && $0.workers.isDisjoint(with: workers) }
    }

    @Test func `A process with several threads is not forked`() {
        #expect(darkroom_fork(0, -1, "test") == -EBUSY)
    }

    @Test func `A worker that never comes up is an error`() async throws {
        for executable in ["/bin/false", "/nonexistent"] {
            await #expect(throws: WorkerStartError.self) {
                _ = try await WorkerSite(.testing { $0.executable = executable })
            }
        }
    }
}

struct WorkerForkTests {
    @Test func `What a zygote does in advance for its workers succeeds`() throws {
        try WarmUp.planDrawing()
    }

    @Test func `A zygote that cannot fork names the threads in the way`() throws {
        let reply = WorkerFork(process: -Int(EBUSY), threads: ["[pango] fontcon", "gmain"])
        let read = try WorkerFork.decoding(reply.encoded)
        let error = #expect(throws: WorkerStartError.self) { try read.worker() }
        #expect(
            error.map { "\($0)" }?.contains(
                "a library has started threads in it that do not end: '[pango] fontcon', 'gmain'") == true)
        #expect(throws: WorkerStartError.self) { try WorkerFork(process: -Int(ENOMEM)).worker() }
        #expect(try WorkerFork(process: 7).worker() == 7)
    }
}
