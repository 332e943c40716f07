public import DarkroomTransforms
public import Foundation
public import NIOCore

/// A picture on its way: how far its download is, previews of it if they are wanted, and in the end the picture.
///
/// ```swift
/// let task = pipeline.imageTask(for: request, previews: true)
/// for await event in task.events {
///     switch event {
///     case .progress(let progress): show(progress.fraction)
///     case .preview(let preview): show(preview.data)
///     }
/// }
/// let picture = try await task.value
/// ```
///
/// It begins when it is made. It ends early on ``cancel()``, when a task that waits for ``value`` is cancelled, and when the last
/// reference to it goes; what it shares with other requests goes on for them.
public final class ImageTask: Sendable {
    /// What happens to a picture on its way.
    public enum Event: Sendable {
        /// More of the original has come in.
        case progress(Progress)
        /// The beginning of the original, as a picture.
        case preview(ImagePreview)
    }

    /// How far a download is.
    public struct Progress: Hashable, Sendable {
        /// Bytes of the original that have come in. It falls only where another download takes the place of one that failed.
        public var receivedBytes: Int
        /// How many the origin has announced; nil = it has not said.
        public var expectedBytes: Int?

        /// 0 to 1; nil where the origin has announced no length.
        public var fraction: Double? {
            expectedBytes.map { min(1, Double(receivedBytes) / Double(max($0, 1))) }
        }

        /// So much, of so much.
        public init(receivedBytes: Int, expectedBytes: Int?) {
            self.receivedBytes = receivedBytes
            self.expectedBytes = expectedBytes
        }
    }

    private let latest: LatestEvents
    private let work: Task<Result<ImageResponse, PipelineError>, Never>

    init(_ latest: LatestEvents, _ work: Task<Result<ImageResponse, PipelineError>, Never>) {
        self.latest = latest
        self.work = work
    }

    deinit {
        work.cancel()
    }

    /// What happens, for one consumer. It ends when the picture is there or has failed, which only ``value`` tells.
    ///
    /// Of each kind the latest event waits for the consumer and older ones are dropped: being slow costs nothing and holds nothing
    /// up. A picture from a cache has no events; a download that other requests began is told of from now on.
    public var events: ImageEvents { ImageEvents(of: self, latest) }

    /// The picture, as ``ImagePipeline/image(for:)`` gives it, as often as you ask.
    public var value: ImageResponse {
        get async throws(PipelineError) {
            try await withTaskCancellationHandler {
                await work.value
            } onCancel: {
                work.cancel()
            }.get()
        }
    }

    /// Gives up: ``value`` throws `.cancelled`, unless the picture is there already.
    public func cancel() {
        work.cancel()
    }
}

/// The beginning of an original, made into a picture as the whole will be: sharp above and grey below, or, of a progressive JPEG,
/// all of it and blurred. It is in no cache.
public struct ImagePreview: Sendable {
    /// The encoded picture.
    public var body: ByteBuffer
    /// The format of `body`, that of the picture which is to come.
    public var format: OutputFormat
    /// The size in pixels.
    public var size: PixelSize
    /// How many bytes of the original it was made from.
    public var receivedBytes: Int

    /// A copy of `body` as Foundation knows bytes.
    public var data: Data { Data(body.readableBytesView) }
}
