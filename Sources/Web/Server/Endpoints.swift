/// Everything that answers.
struct Endpoints: Sendable {
    var image: ImageEndpoint
    var purge: PurgeEndpoint
    var operation: OperationEndpoint
    var playground = PlaygroundEndpoint()

    var routes: [Route] {
        image.routes + image.info.infoRoutes + purge.routes + operation.routes + Contract.routes
            + playground.routes
    }
}
