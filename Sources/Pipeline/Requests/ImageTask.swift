public import DarkroomTransforms
public import Foundation
public import NIOCore
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

        /// Creates a progress.
        public init(receivedBytes: Int, expectedBytes: Int?) {
            self.receivedBytes = receivedBytes
            self.expectedBytes = expectedBytes
        }
    }

    private let buffer: EventBuffer
    private let work: Task<Result<ImageResponse, PipelineError>, Never>

    init(_ buffer: EventBuffer, _ work: Task<Result<ImageResponse, PipelineError>, Never>) {
        self.buffer = buffer
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
    public var events: ImageEvents { ImageEvents(of: self, buffer) }

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

/// An image made from the beginning of an original: gray where bytes are missing or, for a progressive JPEG, complete
/// and blurred. Previews are not cached.
public struct ImagePreview: Sendable {
    /// The encoded preview.
    public var body: ByteBuffer
    /// The format of ``body``, which is also the format of the final image.
    public var format: OutputFormat
    /// The size in pixels.
    public var size: PixelSize
    /// The bytes of the original that the preview was made from.
    public var receivedBytes: Int

    /// A copy of ``body`` as `Data`.
    public var data: Data { Data(body.readableBytesView) }
}

/// The events of an ``ImageTask``. An iterator keeps the task alive.
public struct ImageEvents: AsyncSequence, Sendable {
    /// A progress or a preview.
    public typealias Element = ImageTask.Event
    /// Events never fail: ``ImageTask/value`` throws the request's error.
    public typealias Failure = Never

    private let task: ImageTask
    private let buffer: EventBuffer

    init(of task: ImageTask, _ buffer: EventBuffer) {
        self.task = task
        self.buffer = buffer
    }

    /// Returns an iterator that starts with the buffered events.
    public func makeAsyncIterator() -> Iterator {
        Iterator(task: task, buffer: buffer, changes: buffer.changes.makeAsyncIterator())
    }

    /// An iterator over events as they arrive. Canceling the task that awaits the next event ends the iteration, not
    /// the download.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let task: ImageTask
        fileprivate let buffer: EventBuffer
        fileprivate var changes: AsyncStream<Void>.Iterator

        /// Returns the next event, or nil after the last one.
        public mutating func next() async -> ImageTask.Event? {
            await next(isolation: nil)
        }

        /// Returns the next event on the caller's actor, or nil after the last one.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ImageTask.Event? {
            while true {
                if let event = buffer.take() { return event }
                // An event may have arrived just before the end.
                guard await changes.next(isolation: actor) != nil else { return buffer.take() }
            }
        }
    }
}

/// The latest event of each kind that the consumer has not taken yet.
final class EventBuffer: Sendable {
    private struct State {
        var progress: ImageTask.Progress?
        var preview: ImagePreview?
        var lastProgress: ImageTask.Progress?
        var isFinished = false
    }

    private let state = Mutex(State())
    /// Yields after events were added; several additions may yield once.
    let changes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (changes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func send(_ progress: ImageTask.Progress) {
        state.withLock { state in
            guard !state.isFinished, progress != state.lastProgress else { return }
            state.progress = progress
            state.lastProgress = progress
        }
        continuation.yield()
    }

    func send(_ preview: ImagePreview) {
        state.withLock { state in
            if !state.isFinished { state.preview = preview }
        }
        continuation.yield()
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
