/// Everything that answers.
struct Endpoints: Sendable {
    var image: ImageEndpoint
    var purge: PurgeEndpoint
    var prefetch: PrefetchEndpoint
    var operation: OperationEndpoint

    var routes: [Route] {
        image.routes + image.info.infoRoutes + purge.routes + prefetch.routes + operation.routes + Contract.routes
            + ProblemPages.routes
    }
}
