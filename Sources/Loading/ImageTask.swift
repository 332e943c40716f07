public import DarkroomPipeline
import DarkroomWaiting
import Synchronization

/// An image request in progress: its download progress, optional previews, and finally the image.
///
/// ```swift
/// let task = pipeline.imageTask(for: request, previews: true)
/// for await event in task.events {
///     switch event {
///     case .progress(let progress): show(progress.fraction)
///     case .preview(let preview): show(preview.data)
///     }
/// }
/// let image = try await task.value
/// ```
///
/// The request starts when the task is created. It is canceled by ``cancel()``, when a task that awaits ``value`` is
/// canceled, and when the last reference to it is released. Work shared with other requests continues for them.
public final class ImageTask: Sendable {
    /// An event of a request in progress.
    public enum Event: Sendable {
        /// More of the original was received.
        case progress(Progress)
        /// A preview made from the part of the original received so far.
        case preview(ImagePreview)
    }

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

    private let downloads: DownloadEvents
    private let work: Task<Result<ImageResponse, PipelineError>, Never>

    fileprivate init(_ downloads: DownloadEvents, _ work: Task<Result<ImageResponse, PipelineError>, Never>) {
        self.downloads = downloads
        self.work = work
    }

    deinit {
        work.cancel()
    }

    /// The request's events, for one consumer. The sequence ends when the request succeeds or fails; ``value`` has the
    /// result.
    ///
    /// Only the latest event of each kind is buffered, so a slow consumer delays nothing. An image from a cache has no
    /// events. A download that another request started is reported from the moment when this request joined it.
    public var events: ImageEvents { ImageEvents(of: self, downloads) }

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
    ///
    /// - Parameter previews: whether previews are made while a JPEG is downloaded (SDWebImage's `progressiveLoad`): at
    ///   16 KiB, and each time the bytes received have doubled, on otherwise idle pixel threads.
    public func imageTask(for request: ImageRequest, previews: Bool = false) -> ImageTask {
        let downloads = DownloadEvents(makesPreviews: previews)
        let work = Task.immediate { [self] in
            defer { downloads.finish() }
            return await Result { () async throws(PipelineError) in
                try await image(for: request, observer: downloads)
            }
        }
        return ImageTask(downloads, work)
    }
}

/// The events of an ``ImageTask``, which they keep alive. They never fail: ``ImageTask/value`` throws the request's
/// error.
public struct ImageEvents: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private let task: ImageTask
    private let downloads: DownloadEvents

    fileprivate init(of task: ImageTask, _ downloads: DownloadEvents) {
        self.task = task
        self.downloads = downloads
    }

    /// Returns the events, starting with the buffered ones.
    public func makeAsyncIterator() -> ImageEvents { self }

    /// Returns the next event, or nil after the last one. Canceling the task that awaits it ends the iteration, not the
    /// download.
    public mutating func next() async -> ImageTask.Event? { await next(isolation: nil) }

    /// Returns the next event on the caller's actor, or nil after the last one.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ImageTask.Event? {
        var changes = downloads.changes.makeAsyncIterator()
        while true {
            if let event = downloads.take() { return event }
            // An event may have arrived just before the end.
            guard await changes.next(isolation: actor) != nil else { return downloads.take() }
        }
    }
}

/// Turns the progress of a request's downloads into events of its ``ImageTask``, and keeps the latest event of each
/// kind that the consumer has not taken yet.
///
/// Previews are made one at a time, and only after the bytes received have doubled: together they read at most twice
/// the original's bytes.
private final class DownloadEvents: DownloadObserver {
    private struct State {
        var progress: ImageTask.Progress?
        var preview: ImagePreview?
        var lastProgress: ImageTask.Progress?
        var isFinished = false
        /// How often the bytes had doubled at the last preview.
        var doublings = 0
        /// Makes a preview.
        var task: Task<Void, Never>?
    }

    /// The least bytes for a preview; fewer bytes of a JPEG show little.
    static let minPreviewBytes = 16 << 10

    private let makesPreviews: Bool
    private let state = Mutex(State())
    /// Yields after events were added; several additions may yield once.
    let changes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init(makesPreviews: Bool) {
        self.makesPreviews = makesPreviews
        (changes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Reports progress. The thread that receives the bytes calls it, so previews are made in another task.
    func report(_ download: PartialDownload) {
        let received = download.receivedBytes
        let progress = ImageTask.Progress(receivedBytes: received, expectedBytes: download.expectedBytes)
        state.withLock { state in
            guard !state.isFinished, progress != state.lastProgress else { return }
            (state.progress, state.lastProgress) = (progress, progress)
        }
        continuation.yield()
        guard makesPreviews, received != download.expectedBytes else { return }
        let doublings = Int.bitWidth - (received / Self.minPreviewBytes).leadingZeroBitCount
        state.withLock { state in
            guard state.task == nil, doublings > state.doublings else { return }
            state.doublings = doublings
            guard download.allowsPreview else { return }
            state.task = Task {
                // A preview that fails is skipped.
                add(try? await download.preview())
            }
        }
    }

    private func add(_ preview: ImagePreview?) {
        // After cancellation the state belongs to the next download.
        guard !Task.isCancelled else { return }
        state.withLock { state in
            state.task = nil
            if !state.isFinished, let preview { state.preview = preview }
        }
        if preview != nil { continuation.yield() }
    }

    /// Cancels the preview in progress, which would come too late. The next download starts over.
    func endDownload() {
        let task = state.withLock { state in
            state.doublings = 0
            return state.task.take()
        }
        task?.cancel()
    }

    /// Ends the events. A buffered preview is dropped, since the image itself is available.
    func finish() {
        state.withLock { state in
            state.isFinished = true
            state.preview = nil
        }
        continuation.finish()
    }

    func take() -> ImageTask.Event? {
        state.withLock { state in
            if let progress = state.progress.take() { return .progress(progress) }
            return state.preview.take().map(ImageTask.Event.preview)
        }
    }
}
