import DarkroomCache
import DarkroomOrigin
import Synchronization

/// Follows the downloads of a request. Its method is called on any thread, and must return at once.
package protocol DownloadObserver: AnyObject, Sendable {
    /// More of the original was received, of the length that the origin announced; nil if it did not.
    func report(receivedBytes: Int, expectedBytes: Int?)
}

/// A download in progress, which is reported to all requests that share it, whichever request started it.
final class SharedDownload: Sendable {
    let urgency: Urgency
    /// When it started.
    let epoch: PurgeEpoch
    private let observers = Mutex<[any DownloadObserver]>([])

    init(_ urgency: Urgency, _ epoch: PurgeEpoch) {
        self.urgency = urgency
        self.epoch = epoch
    }

    func add(_ request: ResolvedRequest) {
        if let observer = request.observer { observers.withLock { $0.append(observer) } }
    }

    func remove(_ request: ResolvedRequest) {
        guard let observer = request.observer else { return }
        observers.withLock { $0.removeAll { $0 === observer } }
    }

    /// Reports the bytes so far. Called on any thread.
    func report(_ partial: PartialOriginal) {
        for observer in observers.withLock(\.self) {
            observer.report(receivedBytes: partial.receivedBytes, expectedBytes: partial.expectedBytes)
        }
    }
}
