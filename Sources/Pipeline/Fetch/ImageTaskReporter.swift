import DarkroomOrigin
import DarkroomTransforms
import NIOCore
import Synchronization

/// Turns what comes in of a request's downloads into events of its task.
///
/// Previews are made one at a time, and the next one only once twice as much has come in: all of them together read no more than
/// twice the original's bytes.
final class DownloadWatcher: Sendable {
    private struct State {
        /// How often the bytes have doubled at the last preview.
        var doublings = 0
        var preview: Task<Void, Never>?
    }

    /// Less of a JPEG shows little.
    static let minPreviewBytes = 16 << 10

    private let events: LatestEvents
    private let makesPreviews: Bool
    private let state = Mutex(State())

    init(_ events: LatestEvents, makesPreviews: Bool) {
        self.events = events
        self.makesPreviews = makesPreviews
    }

    /// Called by whoever receives bytes, so it only looks and leaves the work to others.
    func hear(_ partial: PartialOriginal, in transfer: Int, of wanted: Wanted, _ makePreview: MakePreview) {
        let received = partial.body.readableBytes
        events.send(ImageTask.Progress(receivedBytes: received, expectedBytes: partial.expectedBytes))
        guard makesPreviews, received != partial.expectedBytes else { return }
        let doublings = Int.bitWidth - (received / Self.minPreviewBytes).leadingZeroBitCount
        state.withLock { state in
            guard state.preview == nil, doublings > state.doublings else { return }
            state.doublings = doublings
            guard makePreview.suits(partial, wanted) else { return }
            state.preview = Task {
                // One that can't be made is not missed.
                endPreview(try? await makePreview(partial, in: transfer, of: wanted))
            }
        }
    }

    private func endPreview(_ preview: ImagePreview?) {
        // Its download is over, and the place may be another's.
        guard !Task.isCancelled else { return }
        // Before anybody sees it and more is received.
        state.withLock { $0.preview = nil }
        if let preview { events.send(preview) }
    }

    /// The download is over: whatever preview is under way would come too late, and another download begins anew.
    func endDownload() {
        let preview = state.withLock { state in
            defer { state = State() }
            return state.preview
        }
        preview?.cancel()
    }
}
