import DarkroomQuery

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

    /// What is for everybody, or else for those whose requests are signed.
    var pictureRoutes: [AuthorizedRoute] {
        image.routes + image.info.infoRoutes + explain.routes + srcset.routes
    }

    /// Those, for what may be asked of them, and what browsers ask before scripts may read them.
    private func pictureRoutes(of configuration: WebConfiguration) -> [Route] {
        let routes = pictureRoutes.map(RateLimit(configuration).guarding).map(RouteAuthorizer(configuration).guarding)
        return routes + configuration.access.origins.preflights(of: routes)
    }

    /// What scripts of other sites may read, where they may read anything: never what is for administration.
    func sharedPaths(at door: Door) -> [String] { door == .main ? pictureRoutes.map(\.path) : [] }

    /// What is for whoever runs the server.
    var adminRoutes: [Route] { purge.routes + entries.routes + prefetch.routes + operation.adminRoutes }

    /// What tells about the rest, and is at every door.
    private var commonRoutes: [Route] { operation.healthRoutes + Contract.routes + ProblemPages.routes }

    /// What is behind a door, each route for those alone who may use it.
    func routes(at door: Door, of configuration: WebConfiguration) -> [Route] {
        let adminRoutes = adminRoutes.map(AdminAccess(configuration, at: door).guarding)
        switch door {
        case .main:
            return pictureRoutes(of: configuration) + playground.routes
                + (configuration.adminPort == nil ? adminRoutes : []) + commonRoutes
        case .admin: return adminRoutes + commonRoutes
        }
    }
}
