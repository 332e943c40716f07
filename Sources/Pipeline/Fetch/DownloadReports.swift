import DarkroomOrigin
import NIOCore
import Synchronization

/// A download in progress, which is reported to all requests that share it, whichever request started it.
final class SharedDownload: Sendable {
    let urgency: Urgency
    private let previewMaker: PreviewMaker
    /// The requests that want reports.
    private let requests = Mutex<[ResolvedRequest]>([])

    init(_ urgency: Urgency, _ previewMaker: PreviewMaker) {
        self.urgency = urgency
        self.previewMaker = previewMaker
    }

    func add(_ request: ResolvedRequest) {
        if request.reporter != nil { requests.withLock { $0.append(request) } }
    }

    func remove(_ request: ResolvedRequest) {
        guard let reporter = request.reporter else { return }
        requests.withLock { $0.removeAll { $0.reporter === reporter } }
        reporter.endDownload()
    }

    /// Reports the bytes so far. Called on any thread.
    func report(_ partial: PartialOriginal) {
        for request in requests.withLock(\.self) {
            request.reporter?.report(partial, of: self, for: request, previewMaker)
        }
    }
}

extension SharedDownload: Hashable {
    static func == (left: SharedDownload, right: SharedDownload) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Turns the progress of a request's downloads into events of its ``ImageTask``, and keeps the latest event of each
/// kind that the consumer has not taken yet.
///
/// Previews are made one at a time, and only after the bytes received have doubled: together they read at most twice
/// the original's bytes.
final class ImageTaskReporter: Sendable {
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
    func report(
        _ partial: PartialOriginal, of download: SharedDownload, for request: ResolvedRequest,
        _ previewMaker: PreviewMaker
    ) {
        let received = partial.receivedBytes
        let progress = ImageTask.Progress(receivedBytes: received, expectedBytes: partial.expectedBytes)
        state.withLock { state in
            guard !state.isFinished, progress != state.lastProgress else { return }
            (state.progress, state.lastProgress) = (progress, progress)
        }
        continuation.yield()
        guard makesPreviews, received != partial.expectedBytes else { return }
        let doublings = Int.bitWidth - (received / Self.minPreviewBytes).leadingZeroBitCount
        state.withLock { state in
            guard state.task == nil, doublings > state.doublings else { return }
            state.doublings = doublings
            guard previewMaker.supports(partial, request) else { return }
            state.task = Task {
                // A preview that fails is skipped.
                add(try? await previewMaker.preview(of: partial, download: download, for: request))
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
