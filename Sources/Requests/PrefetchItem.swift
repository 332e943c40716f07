/// One image of a prefetch job.
public struct PrefetchItem: Sendable {
    /// The request for the image. Its priority and its fallback are ignored: prefetching is background work, and a
    /// fallback is not the image that was requested.
    public var request: ImageRequest
    /// The caller's label, which is returned with a failure. Default: empty.
    public var label: String

    /// The most images of a job.
    package static let maxPerJob = 10_000

    public init(_ request: ImageRequest, label: String = "") {
        self.request = request
        self.label = label
    }
}
