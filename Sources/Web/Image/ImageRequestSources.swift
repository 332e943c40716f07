import DarkroomHTTPServer
import DarkroomPipeline

extension ImageRequest {
    /// A request for the sources of a query, with default values otherwise.
    init(sourcesOf query: ImageQuery) throws(Problem) {
        try self.init(query.url, givenAs: "url")
        if let fallback = query.fallback { self.fallback = try ImageRequest(fallback, givenAs: "default").source }
    }

    /// A request for a source URL that a client passed as this parameter, with default values otherwise.
    init(_ url: String, givenAs parameter: String) throws(Problem) {
        do throws(PipelineError) {
            try self.init(url: url)
        } catch {
            var problem = Problem(error)
            problem.parameter = parameter
            throw problem
        }
    }
}
