import DarkroomPipeline
import Hummingbird

extension Request {
    /// Longer targets are refused before they are read: a source URL of the greatest length fits in, all of it encoded.
    private static let maxTargetBytes = 32 * 1024

    func requireParsableTarget() throws(Problem) {
        guard uri.string.utf8.count <= Self.maxTargetBytes else {
            throw .targetTooLong(maxBytes: Self.maxTargetBytes)
        }
    }
}

extension ImageRequest {
    /// For the sources of a query, with nothing but the standard otherwise.
    init(sourcesOf query: ImageQuery) throws(Problem) {
        try self.init(query.url, givenAs: "url")
        if let fallback = query.fallback { self.fallback = try ImageRequest(fallback, givenAs: "default").source }
    }

    /// For the source whose address a client gave as this parameter, and nothing but the standard otherwise.
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
