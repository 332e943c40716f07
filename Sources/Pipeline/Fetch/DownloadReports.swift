import DarkroomOrigin
import NIOCore
import Synchronization

/// Reports downloads in progress to all requests that share them, whichever request started them.
final class DownloadBroadcaster<Key: Hashable & Sendable>: Sendable {
    /// Receives the bytes so far, and the number of the download; called on any thread.
    typealias Subscriber = @Sendable (PartialOriginal, _ download: Int) -> Void

    private struct State {
        var subscribers: [Key: [Int: Subscriber]] = [:]
        /// Each key's current download. A download that is being canceled is no longer reported.
        var current: [Key: Int] = [:]
        var lastNumber = 0

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())

    /// The number of downloads and subscribers.
    var count: Int { state.withLock { $0.subscribers.values.reduce($0.current.count) { $0 + $1.count } } }

    /// Reports the key's downloads to `subscriber` from now on.
    ///
    /// - Returns: the number to unsubscribe with.
    func subscribe(to key: Key, _ subscriber: @escaping Subscriber) -> Int {
        state.withLock { state in
            let number = state.nextNumber()
            state.subscribers[key, default: [:]][number] = subscriber
            return number
        }
    }

    func unsubscribe(_ number: Int, from key: Key) {
        state.withLock { state in
            state.subscribers[key]?[number] = nil
            if state.subscribers[key]?.isEmpty == true { state.subscribers[key] = nil }
        }
    }

    /// Runs a download, which reports its progress to the function that it is passed.
    func run<Value>(
        _ key: Key,
        _ download: (@escaping @Sendable (PartialOriginal) -> Void) async throws(PipelineError) -> Value
    ) async throws(PipelineError) -> Value {
        let number = state.withLock { state in
            let number = state.nextNumber()
            state.current[key] = number
            return number
        }
        defer { state.withLock { if $0.current[key] == number { $0.current[key] = nil } } }
        return try await download { [self] in report($0, of: key, number) }
    }

    private func report(_ partial: PartialOriginal, of key: Key, _ number: Int) {
        let subscribers = state.withLock { state in
            state.current[key] == number ? state.subscribers[key].map { Array($0.values) } ?? [] : []
        }
        for subscriber in subscribers { subscriber(partial, number) }
    }
}

/// Turns the progress of a request's downloads into events of its ``ImageTask``.
///
/// Previews are made one at a time, and only after the bytes received have doubled: together they read at most twice
/// the original's bytes.
final class ImageTaskReporter: Sendable {
    private struct State {
        /// How often the bytes had doubled at the last preview.
        var doublings = 0
        var preview: Task<Void, Never>?
    }

    /// The least bytes for a preview; fewer bytes of a JPEG show little.
    static let minPreviewBytes = 16 << 10

    private let events: EventBuffer
    private let makesPreviews: Bool
    private let state = Mutex(State())

    init(_ events: EventBuffer, makesPreviews: Bool) {
        self.events = events
        self.makesPreviews = makesPreviews
    }

    /// Reports progress. The thread that receives the bytes calls it, so previews are made in another task.
    func report(
        _ partial: PartialOriginal, of download: Int, for request: ResolvedRequest, _ previewMaker: PreviewMaker
    ) {
        let received = partial.receivedBytes
        events.send(ImageTask.Progress(receivedBytes: received, expectedBytes: partial.expectedBytes))
        guard makesPreviews, received != partial.expectedBytes else { return }
        let doublings = Int.bitWidth - (received / Self.minPreviewBytes).leadingZeroBitCount
        state.withLock { state in
            guard state.preview == nil, doublings > state.doublings else { return }
            state.doublings = doublings
            guard previewMaker.supports(partial, request) else { return }
            state.preview = Task {
                // A preview that fails is skipped.
                finish(try? await previewMaker.preview(of: partial, download: download, for: request))
            }
        }
    }

    private func finish(_ preview: ImagePreview?) {
        // After cancellation the state belongs to the next download.
        guard !Task.isCancelled else { return }
        // Cleared before the event is sent, so that a consumer that triggers more progress gets the next preview.
        state.withLock { $0.preview = nil }
        if let preview { events.send(preview) }
    }

    /// Cancels the preview in progress, which would come too late. The next download starts over.
    func endDownload() {
        let preview = state.withLock { state in
            defer { state = State() }
            return state.preview
        }
        preview?.cancel()
    }
}
