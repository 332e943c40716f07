import DarkroomHTTPServer
import DarkroomLoading
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests

/// All endpoints, with the listeners that serve them and the access that they require.
struct Endpoints: Sendable {
    var image: ImageEndpoint
    var explain: ExplainEndpoint
    var purge: PurgeEndpoint
    var entries: EntriesEndpoint
    var prefetch: PrefetchEndpoint
    var srcset: SrcsetEndpoint
    var observability: Observability
    var playground = PlaygroundEndpoint(WebConfiguration())
    var contract = ContractEndpoint(without: [])
    /// Describes the source of an IIIF image, which alone counts as an image; nil = both do.
    var describeSource: (@Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse)?

    /// The routes for all clients, or for clients with a signature if the server requires one.
    var imageRoutes: [AuthorizedRoute] {
        image.routes + image.pathRoutes + UploadEndpoint(image: image).routes + image.infoRoutes + explain.routes
            + srcset.routes
    }

    /// The routes for all clients and for the scripts of all sites, as the IIIF Image API requires.
    var iiifRoutes: [AuthorizedRoute] { IIIFEndpoint(endpoint: image, describe: describeSource ?? image.image).routes }

    var adminRoutes: [Route] {
        purge.routes + entries.routes + prefetch.routes + [
            .caches(observability.caches), .metrics(observability.exposition),
        ]
    }

    /// The routes that every listener has, without access control.
    private func commonRoutes(_ configuration: WebConfiguration) -> [Route] {
        [
            .liveness, .readiness("/health/ready", observability), .readiness("/health", observability),
            .robots(areAllowed: configuration.allowsRobots),
        ] + contract.routes + Route.problems(ProblemKind.all)
    }

    /// The routes of a listener, each with its access control.
    func routes(of listener: Listener, _ configuration: WebConfiguration) -> [Route] {
        let adminRoutes = adminRoutes.map { $0.administrative(configuration, on: listener) }
        switch listener {
        case .main: return imageRoutes(configuration) + adminRoutes + commonRoutes(configuration)
        case .admin: return adminRoutes + commonRoutes(configuration)
        }
    }

    private func imageRoutes(_ configuration: WebConfiguration) -> [Route] {
        // Scripts may never read routes for operators.
        let shared = [(imageRoutes, configuration.access.origins), (iiifRoutes, configuration.iiifOrigins)]
        return [image.gate.guarding(image.wsrvRoute), playground.route(isServed: configuration.servesPlayground)]
            + shared.flatMap { routes, origins in
                let routes = routes.map { route in
                    var route = route
                    route.origins = origins
                    return image.gate.guarding(route)
                }
                return routes + origins.preflightRoutes(for: routes)
            }
    }

    func configuration(
        of listener: Listener, _ configuration: WebConfiguration, observers: RequestObservers
    ) -> ListenerConfiguration {
        let address = listener == .admin ? configuration.adminAddress : nil
        var result = ListenerConfiguration(address ?? configuration.address, observers: observers)
        if listener == .main {
            result.basePath = configuration.basePath
            result.ignoredParameters = configuration.ignoredParameters
            result.missingRoute = ForeignPaths.problem
            result.problemLinks = configuration.problemLinks
        }
        result.problemBase = configuration.problemBase
        result.routes = routes(of: listener, configuration)
        result.limits = configuration.clientLimits.connections
        result.proxies = TrustedProxies(networks: configuration.clientLimits.trustedProxies)
        return result
    }
}

extension Endpoints {
    init(
        _ configuration: WebConfiguration, _ pipeline: ImagePipeline, _ prefetcher: Prefetcher,
        _ observability: Observability, rateLimiter: RateLimiter = RateLimiter()
    ) {
        self.observability = observability
        let imageMetrics = ImageMetrics(observability.metrics)
        var configuration = configuration
        configuration.tagger = ResponseTagger(configuration.responseTags, pipeline, imageMetrics)
        image = ImageEndpoint(
            configuration: configuration, gate: Gate(configuration, limiter: rateLimiter),
            inquiries: ImageEndpoint.Inquiries(lookup: pipeline.lookup) { lookup, client, priority in
                imageMetrics.record(pipeline.ask(lookup, client: client, priority: priority))
            }, location: pipeline.location
        ) { request throws(PipelineError) in
            try await imageMetrics.measure { () throws(PipelineError) in try await pipeline.image(for: request) }
        }
        describeSource = { request throws(PipelineError) in
            try await imageMetrics.countingFailures { () throws(PipelineError) in
                try await pipeline.image(for: request)
            }
        }
        explain = ExplainEndpoint(image: image, explain: pipeline.explain)
        purge = PurgeEndpoint(
            sourceMap: configuration.sourceMap, purge: pipeline.purge, removeExpired: pipeline.removeExpired)
        entries = EntriesEndpoint(sourceMap: configuration.sourceMap) { await pipeline.entries(of: $0.source) }
        prefetch = PrefetchEndpoint(
            prefetcher: prefetcher,
            grammar: PrefetchGrammar(
                limits: configuration.limits, presets: configuration.access.presets,
                sourceMap: configuration.sourceMap, negotiation: configuration.negotiation),
            basePath: configuration.adminAddress == nil ? configuration.basePath : "")
        srcset = SrcsetEndpoint(image: image, pipeline, imageMetrics)
        playground = PlaygroundEndpoint(configuration)
        contract = ContractEndpoint(
            without: configuration.limits.unwritable, findsFaces: configuration.limits.findsFaces,
            problemBase: configuration.problemBase)
    }
}
