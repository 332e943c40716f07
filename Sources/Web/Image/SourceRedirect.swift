import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import HTTPTypes
import Hummingbird

extension ImageEndpoint {
    /// The redirect to the source of a request that failed, which `default=1` asks for; nil = the problem is answered.
    ///
    /// Only images follow it. A page that a link leads to would make this server vouch for any address, and a source
    /// that this server refuses, or has a short name for, is never named.
    func redirect(
        to source: SourceURL, for query: ImageQuery, _ request: Request, after error: PipelineError
    ) -> Response? {
        guard query.redirectsToSource, error.permitsFallback, source.scheme.isWeb,
            !configuration.sourceMap.contains(source), request.headers.isForImage
        else { return nil }
        return Response(
            status: .found,
            headers: [
                .location: source.canonical, .cacheControl: CacheControl.noStore.description,
                .vary: HTTPField.Name.secFetchDest.canonicalName,
            ])
    }
}

extension HTTPFields {
    /// Whether a client says that it asks for an image. Over plain HTTP, browsers do not send `Sec-Fetch-Dest`, but
    /// prefer image types for images. Who says neither gets the problem: links are checked by clients that say nothing.
    fileprivate var isForImage: Bool {
        if let destination = self[.secFetchDest] { return destination == "image" }
        let accept = self[.accept]
        return accept?.lowercased().contains("image/") ?? false && !acceptsPage(accept)
    }
}
