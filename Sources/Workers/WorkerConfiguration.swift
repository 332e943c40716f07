import Foundation

/// Number of workers and limits of each.
package struct WorkerConfiguration: Sendable {
    /// Workers that may be busy at the same time, at least 1: one per calling thread. They are forked when jobs need
    /// them; a spare worker is kept idle, so that jobs need not wait.
    package var workers: Int
    /// How missing sandbox layers are handled. Default: auto.
    package var isolation: Isolation
    /// Byte budget of decoded images over all workers. Default: 0.
    package var decodedBytes: Int
    /// Maximum memory of one worker in bytes; a worker that exceeds it is killed. Default: 2 GiB.
    package var memoryBytes: Int
    /// Maximum bytes of a result. Default: 1 GiB.
    package var maxResultBytes: Int
    /// Maximum time of a job, however many requests wait for it. A job that ignores its cancellation for `grace` is
    /// quarantined. Default: 30 s.
    package var jobTimeout: Duration
    /// How long inputs that killed a worker are refused; zero disables the quarantine. Default: 1 hour.
    package var quarantine: Duration
    /// Whether workers look for faces, for which the zygote makes the detector. Default: false.
    package var findsFaces = false

    /// Processor time that every job may take, whatever its estimate.
    #if DEBUG
        // Estimates are for optimized builds. Without optimization, our own loops take tens of times as long.
        var processorAllowance = Duration.seconds(10)
    #else
        var processorAllowance = Duration.seconds(1)
    #endif
    /// The factor by which a job may exceed its expected processor time, in addition to its allowance.
    var processorFactor = 4.0
    /// How much longer than expected a drawing may compete with other jobs. Its content can make it take any time, so
    /// it then runs only while a processor would be idle.
    var competingAllowance = Duration.milliseconds(50)
    /// How long the drawings of a client do not compete at all after one of them was stopped.
    var drawingPenalty = Duration.seconds(60)

    /// Time that a worker has to stop after its job is canceled.
    package var grace = Duration.milliseconds(500)
    /// Time after which an idle worker exits, unless it is the last one or holds decoded images.
    package var idleTimeout = Duration.seconds(60)
    /// Jobs that one worker gets before it is replaced, at least 1; with 1, no two images share a process.
    package var maxJobs = 10_000
    /// Resident bytes, decoded images excluded, at which an idle worker is replaced.
    package var recycledBytes = 144 << 20
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

    /// The processor time after which a drawing with this budget no longer competes with other jobs.
    func competingTime(budget: Duration) -> Duration {
        (budget - processorAllowance) / processorFactor + competingAllowance
    }

    var setup: WorkerSetup {
        let share = decodedBytes / processes
        return WorkerSetup(
            parent: Int(getpid()), isIsolated: isolation != .none, decodedBytes: share,
            // As with one shared cache: at most a third of it for one image.
            maxDecodedEntryBytes: min(decodedBytes / 3, share), memoryBytes: memoryBytes,
            maxResultBytes: maxResultBytes, findsFaces: findsFaces)
    }
}

/// Where untrusted images are decoded, and how missing sandbox layers are handled.
package enum Isolation: String, CaseIterable, Sendable {
    /// In worker processes with every layer. The server does not start if a layer is missing.
    case strict
    /// In worker processes with the layers that the system has. A warning names missing layers.
    case auto
    /// In the server process.
    case none
}

/// A layer of the worker sandbox.
package enum IsolationLayer: String, CaseIterable, Codable, Sendable {
    /// The worker exits with its server, gains no privileges by executing files, and cannot be traced (prctl(2)).
    case bound
    /// Memory, file size, CPU time, descriptors and threads are limited, and core files are off (setrlimit(2)).
    case limits
    /// The worker can read libraries and fonts only, write nothing, and reach neither TCP nor other processes
    /// (landlock(7)).
    case landlock
    /// Only system calls needed for computation are allowed: no sockets, no processes, no execution (seccomp(2)).
    case seccomp
}

/// Why the worker pool did not start.
package enum WorkerStartError: Error, Equatable, Sendable, CustomStringConvertible {
    /// `Isolation.strict` is set, and the system lacks these layers.
    case missingLayers([IsolationLayer])
    /// Worker processes are not available on this platform.
    case unsupported
    /// No worker became ready; the text is a diagnostic.
    case failed(String)

    package var description: String {
        switch self {
        case .missingLayers(let layers):
            "this system lacks the sandbox layers \(layers.map(\.rawValue).joined(separator: ", ")), which "
                + "strict isolation requires; use auto to run without them"
        case .unsupported: "worker processes require Linux"
        case .failed(let reason): "no worker process started (\(reason))"
        }
    }
}

/// State and counters of the worker pool since it was started.
package struct WorkerStatistics: Equatable, Sendable {
    /// Why a worker exited.
    package enum EndReason: String, CaseIterable, Sendable {
        /// The process exited on its own or was killed by a signal.
        case crashed
        /// Killed because it ignored a cancellation.
        case hung
        /// Killed because it exceeded its memory limit.
        case memory
        /// Killed because its job took far more processor time than expected.
        case overtime
        /// Killed because its reply violated the protocol.
        case protocolViolation = "protocol"
        /// Replaced by a fresh worker after its share of jobs, CPU time or memory growth, or after a job that took
        /// longer than expected.
        case recycled
        /// Ended because it had nothing to do.
        case idle
    }

    /// Workers that are idle or busy now.
    package var ready = 0
    /// The number of workers of a healthy pool: the workers in use, and a spare.
    package var configured = 0
    /// Workers that have become ready.
    package var started = 0
    package var failedStarts = 0
    /// Exits by reason.
    package var ended: [EndReason: Int] = [:]
    /// Sources and jobs in quarantine.
    package var quarantined = 0
    /// Jobs refused because of the quarantine.
    package var refused = 0
    /// CPU time of all workers, in seconds. Never decreases: it includes the CPU time of workers that have exited.
    package var processorSeconds = 0.0
    /// Resident memory of all workers, in bytes.
    package var residentBytes = 0
}
