import DarkroomCache
import DarkroomOrigin
import Synchronization

/// Follows the downloads of a request. Its methods are called on any thread, and must return at once.
package protocol DownloadObserver: AnyObject, Sendable {
    /// More of the original was received.
    func report(_ download: PartialDownload)
    /// The request does not wait for this download any more.
    func endDownload()
}

/// The part of an original received so far, as one of the requests that wait for it sees it.
package struct PartialDownload: Sendable {
    fileprivate let original: PartialOriginal
    fileprivate let download: SharedDownload
    fileprivate let request: ResolvedRequest

    /// The bytes received so far.
    package var receivedBytes: Int { original.receivedBytes }
    /// The total that the origin announced; nil if it did not.
    package var expectedBytes: Int? { original.expectedBytes }
    /// Whether ``preview()`` can make an image of the part.
    package var allowsPreview: Bool { download.previewMaker.supports(original, request) }

    /// Makes the request's image from the part, once for all requests for the same image.
    package func preview() async throws(PipelineError) -> ImagePreview {
        try await download.previewMaker.preview(of: original, download: download, for: request)
    }
}

/// A download in progress, which is reported to all requests that share it, whichever request started it.
final class SharedDownload: Sendable {
    let urgency: Urgency
    /// When it started.
    let epoch: PurgeEpoch
    fileprivate let previewMaker: PreviewMaker
    /// The requests that want reports.
    private let requests = Mutex<[ResolvedRequest]>([])

    init(_ urgency: Urgency, _ epoch: PurgeEpoch, _ previewMaker: PreviewMaker) {
        self.urgency = urgency
        self.epoch = epoch
        self.previewMaker = previewMaker
    }

    func add(_ request: ResolvedRequest) {
        if request.observer != nil { requests.withLock { $0.append(request) } }
    }

    func remove(_ request: ResolvedRequest) {
        guard let observer = request.observer else { return }
        requests.withLock { $0.removeAll { $0.observer === observer } }
        observer.endDownload()
    }

    /// Reports the bytes so far. Called on any thread.
    func report(_ partial: PartialOriginal) {
        for request in requests.withLock(\.self) {
            request.observer?.report(PartialDownload(original: partial, download: self, request: request))
        }
    }
}

extension SharedDownload: Hashable {
    static func == (left: SharedDownload, right: SharedDownload) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
