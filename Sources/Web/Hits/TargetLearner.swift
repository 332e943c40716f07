import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import DarkroomTransforms
import HTTPTypes
import Hummingbird

/// Makes targets known whose hits the endpoint has answered.
struct TargetLearner: Sendable {
    let targets: KnownTargets
    let metrics: RequestMetrics
    /// Derives the keys of a request.
    let lookup: @Sendable (ImageRequest) -> ImageLookup
}

extension ImageEndpoint {
    /// Makes the target of a hit known, unless its meaning depends on more than the target and the configuration.
    ///
    /// A miss makes nothing known: most images that are asked for once are never asked for again.
    func learn(
        _ request: Request, at path: String, _ query: ImageQuery, _ authorization: Authorization,
        from image: ImageResponse
    ) {
        guard let learner, let target = request.head.path, image.cache.variant != nil, image.cache.forwarded == nil,
            image.fallbackReason == nil, !query.includesCaching, !query.waitsForDisk,
            // What the admin token allows is allowed to its requests alone.
            request.headers[.authorization] == nil, !learner.targets.contains(target),
            let other = try? imageRequest(query, of: [:], authorization),
            let webP = try? imageRequest(query, of: [.accept: OutputFormat.webp.mediaType], authorization)
        else { return }
        let known = KnownTarget(
            query: query, source: other.source, authorization: authorization,
            metrics: learner.metrics.of(route: path),
            images: KnownTarget.Images(webP: learner.lookup(webP), other: learner.lookup(other)))
        learner.targets.insert(known, for: target)
    }
}
