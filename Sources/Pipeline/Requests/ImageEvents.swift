import Synchronization

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
