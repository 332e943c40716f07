public import DarkroomTransforms
public import Foundation
public import NIOCore

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

    private let reporter: ImageTaskReporter
    private let work: Task<Result<ImageResponse, PipelineError>, Never>

    init(_ reporter: ImageTaskReporter, _ work: Task<Result<ImageResponse, PipelineError>, Never>) {
        self.reporter = reporter
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
    public var events: ImageEvents { ImageEvents(of: self, reporter) }

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

/// The events of an ``ImageTask``, which they keep alive. They never fail: ``ImageTask/value`` throws the request's
/// error.
public struct ImageEvents: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private let task: ImageTask
    private let reporter: ImageTaskReporter

    init(of task: ImageTask, _ reporter: ImageTaskReporter) {
        self.task = task
        self.reporter = reporter
    }

    /// Returns the events, starting with the buffered ones.
    public func makeAsyncIterator() -> ImageEvents { self }

    /// Returns the next event, or nil after the last one. Canceling the task that awaits it ends the iteration, not the
    /// download.
    public mutating func next() async -> ImageTask.Event? { await next(isolation: nil) }

    /// Returns the next event on the caller's actor, or nil after the last one.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ImageTask.Event? {
        var changes = reporter.changes.makeAsyncIterator()
        while true {
            if let event = reporter.take() { return event }
            // An event may have arrived just before the end.
            guard await changes.next(isolation: actor) != nil else { return reporter.take() }
        }
    }
}
