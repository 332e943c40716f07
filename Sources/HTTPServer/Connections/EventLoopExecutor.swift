import NIOCore

/// Runs the steps of tasks on the event loop of their connection.
///
/// A request waits many times, and nearly every answer arrives on an event loop. Without this executor, each answer
/// would wake a thread of Swift's pool, and each write would wake the event loop again.
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    /// - Parameter loop: must not be shut down while tasks with this executor run.
    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
