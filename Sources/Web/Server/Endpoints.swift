/// Everything that answers.
struct Endpoints: Sendable {
    var image: ImageEndpoint
    var purge: PurgeEndpoint
    var prefetch: PrefetchEndpoint
    var operation: OperationEndpoint
    var srcset: SrcsetEndpoint

    var routes: [Route] {
        image.routes + image.info.infoRoutes + srcset.routes + purge.routes + prefetch.routes + operation.routes
            + Contract.routes + ProblemPages.routes
    }
}
