import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import HTTPTypes
import Hummingbird

extension ImageEndpoint {
    /// The redirect to the source of a failed request with `default=1`; nil = the response is the problem.
    ///
    /// Only requests for images are redirected: a link would otherwise lead from this server to any address. A source
    /// that this server refuses, or that has a short name, is never named.
    func redirect(
        to source: SourceURL, for query: ImageQuery, _ head: RequestHead, after error: PipelineError
    ) -> Response? {
        guard query.redirectsToSource, error.permitsFallback(for: query.fallbackStatuses), source.scheme.isWeb,
            !configuration.sourceMap.contains(source), head.isForImage
        else { return nil }
        return Response(
            status: .found,
            headers: [
                .location: source.canonical, .cacheControl: CacheControl.noStore.description,
                .vary: HTTPField.Name.secFetchDest.canonicalName,
            ])
    }
}

extension RequestHead {
    /// Whether a client states that it requests an image. Over plain HTTP, browsers do not send `Sec-Fetch-Dest`, but
    /// prefer image types for images. A client that states neither gets the problem, because link checkers send
    /// neither.
    fileprivate var isForImage: Bool {
        if let secFetchDest { return secFetchDest == "image" }
        return accept?.lowercased().contains("image/") ?? false && !acceptsPage(accept)
    }
}
