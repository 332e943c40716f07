/// One picture of a prefetching job.
public struct PrefetchItem: Sendable {
    /// What is wanted. Its priority and its fallback do not count: prefetching is background work, and another picture is not the
    /// one that was meant.
    public var request: ImageRequest
    /// What the caller calls it; it comes back with a failure.
    public var label: String

    public init(_ request: ImageRequest, label: String = "") {
        self.request = request
        self.label = label
    }
}
