import Synchronization

/// The events of an ``ImageTask``, which lives at least as long as somebody goes through them.
public struct ImageEvents: AsyncSequence, Sendable {
    /// More of the original, or a preview.
    public typealias Element = ImageTask.Event
    /// Failures are told by the task's value.
    public typealias Failure = Never

    private let task: ImageTask
    private let latest: LatestEvents

    init(of task: ImageTask, _ latest: LatestEvents) {
        self.task = task
        self.latest = latest
    }

    /// Begins with what waits.
    public func makeAsyncIterator() -> Iterator {
        Iterator(task: task, latest: latest, news: latest.news.makeAsyncIterator())
    }

    /// Goes through events as they come. Cancelling the task that waits for the next one ends the iteration, not the download.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let task: ImageTask
        fileprivate let latest: LatestEvents
        fileprivate var news: AsyncStream<Void>.Iterator

        /// The next event; nil = there are no more.
        public mutating func next() async -> ImageTask.Event? {
            await next(isolation: nil)
        }

        /// The next event, on the caller's actor; nil = there are no more.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ImageTask.Event? {
            while true {
                if let event = latest.take() { return event }
                // What came in just before the end is still to be told.
                guard await news.next(isolation: actor) != nil else { return latest.take() }
            }
        }
    }
}

/// Of each kind the latest event, until somebody takes it.
final class LatestEvents: Sendable {
    private struct State {
        var progress: ImageTask.Progress?
        var preview: ImagePreview?
        var lastProgress: ImageTask.Progress?
        var isOver = false
    }

    private let state = Mutex(State())
    /// Yields when something may be there to take; many pieces of news are one.
    let news: AsyncStream<Void>
    private let bell: AsyncStream<Void>.Continuation

    init() {
        (news, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func send(_ progress: ImageTask.Progress) {
        state.withLock { state in
            guard !state.isOver, progress != state.lastProgress else { return }
            state.progress = progress
            state.lastProgress = progress
        }
        bell.yield()
    }

    func send(_ preview: ImagePreview) {
        state.withLock { state in
            if !state.isOver { state.preview = preview }
        }
        bell.yield()
    }

    /// No more events. A preview that waits is dropped: the picture itself is there.
    func finish() {
        state.withLock { state in
            state.isOver = true
            state.preview = nil
        }
        bell.finish()
    }

    func take() -> ImageTask.Event? {
        state.withLock { state in
            if let progress = state.progress.take() { return .progress(progress) }
            return state.preview.take().map(ImageTask.Event.preview)
        }
    }
}
