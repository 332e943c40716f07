import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import HTTPTypes
import Hummingbird

/// Registers targets for which the endpoint has answered a hit.
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
        let preferences = configuration.negotiation.preferences(
            of: query, accept: request.headers[.accept], connection: ConnectionHints(request.headers))
        guard let learner, let target = request.head.path, image.cache.variant != nil, image.cache.forwarded == nil,
            image.fallbackReason == nil, !image.isInterim, !query.includesCaching, !query.waitsForDisk,
            !query.encodesBase64,
            // What the admin token allows is allowed to its requests alone.
            request.headers[.authorization] == nil,
            // The size of the image may depend on the client.
            !configuration.negotiation.usesClientHints
                || request.headers[.secCHDPR] == nil && request.headers[.secCHWidth] == nil,
            case let known = learner.targets.peek(target), known?.form(preferences) == nil,
            let imageRequest = try? imageRequest(query, of: Self.negotiated(request.headers), authorization)
        else { return }
        let image = (preferences: preferences, lookup: learner.lookup(imageRequest))
        let new = KnownTarget(
            query: query, source: imageRequest.source, authorization: authorization,
            metrics: learner.metrics.of(route: path), images: known?.images(adding: image) ?? [image])
        learner.targets.insert(new, for: target)
    }

    /// The fields that choose among the forms of an image.
    private static func negotiated(_ fields: HTTPFields) -> HTTPFields {
        HTTPFields(fields.filter { ([.accept] + ConnectionHints.fields).contains($0.name) })
    }
}
