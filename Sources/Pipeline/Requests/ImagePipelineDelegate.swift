public import DarkroomNetwork
public import DarkroomOrigin
public import DarkroomRequests
public import DarkroomTransforms
public import HTTPTypes

/// The decisions that a pipeline leaves to its user. Every method has a default, so implement only what you need.
///
/// Methods are called on any task, concurrently for different requests, and must not block.
public protocol ImagePipelineDelegate: Sendable {
    /// Whether this source may be downloaded. Called before its host name is resolved; false fails the request with
    /// ``PipelineError/notAllowed(_:)``.
    func shouldDownload(_ source: SourceURL) async -> Bool

    /// Returns the request fields to send to the origin.
    ///
    /// - Parameter fields: the pipeline's own fields. They never hold a client's credentials.
    func originFields(_ fields: HTTPFields, for source: SourceURL) async -> HTTPFields

    /// Returns the origin's response, possibly changed; nil rejects it, which fails the request with
    /// ``PipelineError/originFailed(_:)``.
    func accept(_ response: OriginResponse, for request: ImageRequest) async -> OriginResponse?

    /// Returns an accepted response as it is to be cached and used (`NSURLConnection`'s `willCacheResponse`): change
    /// its header fields to change its freshness. Nil serves the requests that wait for it, and caches nothing.
    func willCacheResponse(_ response: OriginResponse, for request: ImageRequest) async -> OriginResponse?

    /// Whether a source that failed is not requested again for a minute, whatever the kind of failure (SDWebImage's
    /// `shouldBlockFailedURL`).
    func shouldBlockFailedURL(_ source: SourceURL, error: PipelineError) async -> Bool

    /// Returns the transforms to apply (SDWebImage's `transformDownloadedImage`): add, replace or remove members of
    /// `chain`, which holds the built-in transforms in order. The members' keys become part of the variant key.
    func transforms(_ chain: TransformChain, for request: ImageRequest) -> TransformChain
}

extension ImagePipelineDelegate {
    public func shouldDownload(_ source: SourceURL) async -> Bool { true }
    public func originFields(_ fields: HTTPFields, for source: SourceURL) async -> HTTPFields { fields }
    public func accept(_ response: OriginResponse, for request: ImageRequest) async -> OriginResponse? { response }
    public func willCacheResponse(
        _ response: OriginResponse, for request: ImageRequest
    ) async -> OriginResponse? { response }
    public func shouldBlockFailedURL(_ source: SourceURL, error: PipelineError) async -> Bool { false }
    public func transforms(_ chain: TransformChain, for request: ImageRequest) -> TransformChain { chain }
}

/// The delegate that changes nothing.
public struct DefaultPipelineDelegate: ImagePipelineDelegate {
    public init() {}
}
