public import DarkroomPipeline
public import DarkroomRequests
import DarkroomWaiting
import Synchronization

/// An image request in progress: its download progress, and finally the image.
///
/// ```swift
/// let task = pipeline.imageTask(for: request)
/// for await progress in task.progress { show(progress.fraction) }
/// let image = try await task.value
/// ```
///
/// The request starts when the task is created. It is canceled by ``cancel()``, when a task that awaits ``value`` is
/// canceled, and when the last reference to it is released. Work shared with other requests continues for them.
public final class ImageTask: Sendable {
    /// The progress of a download.
    public struct Progress: Hashable, Sendable {
        /// Bytes of the original received so far. The number falls only if another download replaces a failed one.
        public var receivedBytes: Int
        /// The total that the origin announced; nil if it did not.
        public var expectedBytes: Int?

        /// The fraction received, 0 to 1; nil if the origin announced no total.
        public var fraction: Double? {
            expectedBytes.map { min(1, Double(receivedBytes) / Double(max($0, 1))) }
        }
    }

    private let reports: DownloadReports
    private let work: Task<Result<ImageResponse, PipelineError>, Never>

    fileprivate init(_ reports: DownloadReports, _ work: Task<Result<ImageResponse, PipelineError>, Never>) {
        self.reports = reports
        self.work = work
    }

    deinit {
        work.cancel()
    }

    /// The progress of the request's downloads, for one consumer. The sequence ends when the request succeeds or fails;
    /// ``value`` has the result.
    ///
    /// Only the latest progress is buffered, so a slow consumer delays nothing. An image from a cache has none. A
    /// download that another request started is reported from the moment when this request joined it.
    public var progress: ImageProgress { ImageProgress(of: self, reports.updates) }

    /// The image, as ``ImagePipeline/image(for:)`` returns it. It can be awaited any number of times.
    public var value: ImageResponse {
        get async throws(PipelineError) {
            try await withTaskCancellationHandler {
                await work.value
            } onCancel: {
                work.cancel()
            }.get()
        }
    }

    /// Cancels the request: ``value`` throws ``PipelineError/cancelled`` unless the image is already available.
    public func cancel() {
        work.cancel()
    }
}

extension ImagePipeline {
    /// Starts a request and reports its progress.
    public func imageTask(for request: ImageRequest) -> ImageTask {
        let reports = DownloadReports()
        let work = Task.immediate { [self] in
            defer { reports.finish() }
            return await Result { () async throws(PipelineError) in
                try await image(for: request, observer: reports)
            }
        }
        return ImageTask(reports, work)
    }
}

/// The progress of an ``ImageTask``, which it keeps alive. It never fails: ``ImageTask/value`` throws the request's
/// error.
public struct ImageProgress: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private let task: ImageTask
    private let updates: AsyncStream<ImageTask.Progress>

    fileprivate init(of task: ImageTask, _ updates: AsyncStream<ImageTask.Progress>) {
        self.task = task
        self.updates = updates
    }

    /// Returns the progress, starting with the buffered one.
    public func makeAsyncIterator() -> ImageProgress { self }

    /// Returns the next progress, or nil after the last one. Canceling the task that awaits it ends the iteration, not
    /// the download.
    public mutating func next() async -> ImageTask.Progress? { await next(isolation: nil) }

    /// Returns the next progress on the caller's actor, or nil after the last one.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ImageTask.Progress? {
        var iterator = updates.makeAsyncIterator()
        return await iterator.next(isolation: actor)
    }
}

/// Passes the progress of a request's downloads on to its ``ImageTask``, the latest one if the consumer is slow.
private final class DownloadReports: DownloadObserver {
    let updates: AsyncStream<ImageTask.Progress>
    private let continuation: AsyncStream<ImageTask.Progress>.Continuation
    private let last = Mutex<ImageTask.Progress?>(nil)

    init() {
        (updates, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func report(receivedBytes: Int, expectedBytes: Int?) {
        let progress = ImageTask.Progress(receivedBytes: receivedBytes, expectedBytes: expectedBytes)
        last.withLock { last in
            guard progress != last else { return }
            last = progress
            continuation.yield(progress)
        }
    }

    func finish() { continuation.finish() }
}
