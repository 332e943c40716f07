import Foundation

/// How many workers there are, and what each may take.
package struct WorkerConfiguration: Sendable {
    /// Workers that may be busy at a time, at least 1: one for each thread that calls. One more is kept ready, so that what a killed
    /// one leaves undone for others has not to wait for a start.
    package var workers: Int
    package var isolation: Isolation
    /// Bytes of decoded pictures that all workers keep, together.
    package var decodedBytes: Int
    /// Bytes that one worker may take. One that has more in memory is killed.
    package var memoryBytes: Int
    /// Bytes of a result.
    package var maxResultBytes: Int
    /// The most time that a job has, even where new requests go on joining those that wait for it. What ignores the end of it for
    /// `grace` is not tried again for a while.
    package var jobTimeout: Duration
    /// How long what killed a worker is refused at once; zero = it is tried each time.
    package var quarantine: Duration

    /// How long a worker may go on once its job is cancelled.
    package var grace = Duration.milliseconds(500)
    /// Jobs after which a worker is replaced by a fresh one.
    package var maxJobs = 10_000
    /// Bytes in memory, those of its decoded pictures aside, at which an idle worker is replaced by a fresh one.
    package var recycledBytes = 256 << 20
    /// What is started: by default the file that this process runs.
    package var executable = "/proc/self/exe"
    /// The executable's subcommand that calls ``Worker/run()``.
    package var subcommand = "worker"

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

    /// The spare is one of them.
    var processes: Int { workers + 1 }

    /// What each worker is told when it starts.
    var setup: WorkerSetup {
        let share = decodedBytes / processes
        return WorkerSetup(
            parent: getpid(), isIsolated: isolation != .none, decodedBytes: share,
            // As with one cache for all: a quarter of it for one picture.
            maxDecodedEntryBytes: min(decodedBytes / 4, share), memoryBytes: memoryBytes,
            maxResultBytes: maxResultBytes)
    }
}
