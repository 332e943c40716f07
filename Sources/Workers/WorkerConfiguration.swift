import Foundation

/// Number of workers and limits of each.
package struct WorkerConfiguration: Sendable {
    /// Workers that may be busy at the same time, at least 1: one per calling thread. They are forked when jobs need
    /// them; one more is kept idle, so that jobs need not wait.
    package var workers: Int
    /// How missing sandbox layers are handled. Default: auto.
    package var isolation: Isolation
    /// Byte budget of decoded images over all workers. Default: 0.
    package var decodedBytes: Int
    /// Maximum memory of one worker in bytes; a worker above it is killed. Default: 2 GiB.
    package var memoryBytes: Int
    /// Maximum bytes of a result. Default: 1 GiB.
    package var maxResultBytes: Int
    /// Maximum time of a job, however many requests wait for it. A job that ignores its cancellation for `grace` is
    /// quarantined. Default: 30 s.
    package var jobTimeout: Duration
    /// How long inputs that killed a worker are refused; zero disables the quarantine. Default: 1 hour.
    package var quarantine: Duration

    /// Processor time that every job may take, whatever its estimate.
    var processorAllowance = Duration.seconds(1)
    /// The factor by which a job may exceed its expected processor time, in addition to its allowance.
    var processorFactor = 4.0

    /// Time that a worker has to stop after its job is canceled.
    package var grace = Duration.milliseconds(500)
    /// Time after which an idle worker exits, unless it is the last one or holds decoded images.
    package var idleTimeout = Duration.seconds(60)
    /// Jobs that one worker gets before it is replaced, at least 1; with 1, no two images share a process.
    package var maxJobs = 10_000
    /// Resident bytes, decoded images excluded, at which an idle worker is replaced.
    package var recycledBytes = 256 << 20
    /// Path of the zygote's executable. Default: the running executable.
    package var executable = "/proc/self/exe"
    /// Subcommand of the executable that calls ``Zygote/run()``.
    package var subcommand = "zygote"

    package init(
        workers: Int, isolation: Isolation = .auto, decodedBytes: Int = 0, memoryBytes: Int = 2 << 30,
        maxResultBytes: Int = 1 << 30, jobTimeout: Duration = .seconds(30), quarantine: Duration = .seconds(3600)
    ) {
        self.workers = max(workers, 1)
        self.isolation = isolation
        self.decodedBytes = max(decodedBytes, 0)
        self.memoryBytes = memoryBytes
        self.maxResultBytes = maxResultBytes
        self.jobTimeout = jobTimeout
        self.quarantine = quarantine
    }

    /// Maximum number of workers, the spare included.
    var processes: Int { workers + 1 }

    /// The processor time after which the worker of a job is stopped.
    ///
    /// - Parameters:
    ///   - expectedWork: in milliseconds.
    ///   - limit: the greatest expected work of a job, in milliseconds. No budget is more than twice as much.
    func processorBudget(expectedWork: Double, limit: Int) -> Duration {
        processorAllowance + .milliseconds(Int64(min(expectedWork * processorFactor, 2 * Double(limit), 1e15)))
    }

    /// The setup of all workers.
    var setup: WorkerSetup {
        let share = decodedBytes / processes
        return WorkerSetup(
            parent: Int(getpid()), isIsolated: isolation != .none, decodedBytes: share,
            // As with one shared cache: at most a third of it for one image.
            maxDecodedEntryBytes: min(decodedBytes / 3, share), memoryBytes: memoryBytes,
            maxResultBytes: maxResultBytes)
    }
}
