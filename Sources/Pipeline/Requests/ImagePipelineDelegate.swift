public import DarkroomNetwork
public import DarkroomOrigin
public import DarkroomTransforms
public import HTTPTypes

/// What a Swift user may decide while a picture is made. Every method has a default, so implement what you need.
///
/// Methods are called on any task, at the same time for different requests, and must not block.
public protocol ImagePipelineDelegate: Sendable {
    /// Whether this source may be downloaded. It is asked before any name is resolved; false answers 403.
    func shouldDownload(_ source: SourceURL) async -> Bool

    /// The header fields that are sent to the origin, after `fields`, which are ours. Credentials of clients are never among them.
    func originFields(_ fields: HTTPFields, for source: SourceURL) async -> HTTPFields

    /// What of an origin's answer is used; nil refuses it, which answers 502.
    func accept(_ response: OriginResponse, for request: ImageRequest) async -> OriginResponse?

    /// What of an accepted answer is kept, and then used (NSURLConnection's `willCacheResponse`): other header fields mean another
    /// freshness. Nil = it serves those who wait for it now and nobody later.
    func willCacheResponse(_ response: OriginResponse, for request: ImageRequest) async -> OriginResponse?

    /// Whether a failed source is left alone for a minute, whatever its kind of failure says (SDWebImage's `shouldBlockFailedURL`).
    func shouldBlockFailedURL(_ source: SourceURL, error: PipelineError) async -> Bool

    /// The chain of transform delegates of a request (SDWebImage's `transformDownloadedImage`): `chain` holds the built-in
    /// ones in their order; add, replace or remove what you like. Keys of the members become part of the variant key.
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

/// The delegate that leaves everything as it is.
public struct DefaultPipelineDelegate: ImagePipelineDelegate {
    /// A delegate without wishes.
    public init() {}
}
