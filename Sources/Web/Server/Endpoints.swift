/// Everything that answers.
struct Endpoints: Sendable {
    var image: ImageEndpoint
    var explain: ExplainEndpoint
    var purge: PurgeEndpoint
    var entries: EntriesEndpoint
    var prefetch: PrefetchEndpoint
    var operation: OperationEndpoint
    var srcset: SrcsetEndpoint
    var playground = PlaygroundEndpoint()

    /// What is for everybody, but for each only so often.
    private var costlyRoutes: [Route] {
        image.routes + image.info.infoRoutes + explain.routes + srcset.routes
    }

    /// What is for whoever runs the server.
    var adminRoutes: [Route] { purge.routes + entries.routes + prefetch.routes + operation.adminRoutes }

    /// What tells about the rest, and is at every door.
    private var commonRoutes: [Route] { operation.healthRoutes + Contract.routes + ProblemPages.routes }

    /// What is behind a door, each route for those alone who may use it.
    func routes(at door: Door, of configuration: WebConfiguration) -> [Route] {
        let adminRoutes = adminRoutes.map(AdminAccess(configuration, at: door).guarding)
        switch door {
        case .main:
            return costlyRoutes.map(RateLimit(configuration).guarding) + playground.routes
                + (configuration.adminPort == nil ? adminRoutes : []) + commonRoutes
        case .admin: return adminRoutes + commonRoutes
        }
    }
}
