/// Which of several waiting downloads of equal priority starts first.
public enum DownloadOrder: String, CaseIterable, Hashable, Sendable {
    /// The one that waits longest.
    case fifo
    /// The one that came last: right where people scroll past what they asked for before.
    case lifo
}
