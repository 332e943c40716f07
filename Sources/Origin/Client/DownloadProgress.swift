import DarkroomWaiting

/// The deadline of a download, with the phase that the download is in.
typealias DownloadProgress = PhasedDeadline<OriginError.Phase>

extension DownloadProgress {
    convenience init() { self.init(.waiting) }

    /// The error itself, or the timeout if that is why the download was canceled.
    func cause(of error: OriginError) -> OriginError {
        guard error == .cancelled, let phase = phaseWhenPassed else { return error }
        return .timedOut(phase)
    }
}
