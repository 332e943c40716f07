import DarkroomOrigin
import DarkroomTransforms
import NIOCore
import Synchronization

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

    /// The least bytes for a preview; less of a JPEG shows little.
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
