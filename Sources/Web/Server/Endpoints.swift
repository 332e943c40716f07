/// Everything that answers.
struct Endpoints: Sendable {
    var image: ImageEndpoint
    var explain: ExplainEndpoint
    var purge: PurgeEndpoint
    var entries: EntriesEndpoint
    var operation: OperationEndpoint

    var routes: [Route] {
        image.routes + image.info.infoRoutes + explain.routes + purge.routes + entries.routes + operation.routes
            + Contract.routes
    }
}
