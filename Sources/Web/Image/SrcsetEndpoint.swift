import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import DarkroomTransforms
import HTTPTypes
import Hummingbird

/// `GET /srcset`: the URLs of one image in several widths, up to the greatest width that the source allows. It reads
/// the source's header as `/info` does, and processes nothing.
struct SrcsetEndpoint: Sendable {
    private let image: ImageEndpoint
    private let grammar: SrcsetGrammar
    private let urls: ImageURLBuilder
    /// The size of a result, from the summary of its source.
    private let size: @Sendable (ImageRequest, SourceSummary) throws(PipelineError) -> PlannedSize

    /// The most bytes of all URLs, which the document repeats several times.
    private static let maxListBytes = 256 << 10

    /// - Parameter image: describes sources.
    init(
        image: ImageEndpoint,
        size: @escaping @Sendable (ImageRequest, SourceSummary) throws(PipelineError) -> PlannedSize
    ) {
        self.image = image
        self.size = size
        grammar = SrcsetGrammar(limits: image.configuration.limits)
        urls = ImageURLBuilder(image.configuration)
    }

    var routes: [AuthorizedRoute] {
        [AuthorizedRoute("/srcset", presets: .unsupported, respond: response)]
    }

    private func response(
        to request: Request, _ context: ServerRequestContext, _ authorization: Authorization
    ) async throws(Problem) -> Response {
        guard !request.headers.viaContains(image.configuration.viaPseudonym) else { throw .loop }
        let query = try requireValid(grammar.parse(authorization.query))
        let imageRequest = try requireSource(query.first.sourceRequest(image.configuration.sourceMap))
        try requireAuthorized(authorization.requireSources(of: imageRequest))
        let source = try await summary(for: query, request, authorization, context)
        let images = try images(query, of: imageRequest, source)
        let bytes = images.count * (images.last.map { urls.url(of: $0.query, for: authorization).utf8.count } ?? 0)
        guard bytes <= Self.maxListBytes else {
            throw Problem(.invalidParameter, "The list of these URLs would be too long: shorten the query or 'widths'.")
        }
        let document = SrcsetDocument(
            images, sizes: query.sizes, formats: query.pictureFormats(for: source, image.configuration.limits)
        ) {
            urls.url(of: $0, for: authorization)
        }
        return .json(document)
    }

    /// Describes the source, or its fallback, as `/info` does.
    private func summary(
        for query: SrcsetQuery, _ request: Request, _ authorization: Authorization, _ context: ServerRequestContext
    ) async throws(Problem) -> SourceSummary {
        let imageRequest = try image.imageRequest(query.sourceQuery, of: request.headers, authorization, in: context)
        let response: ImageResponse
        do throws(PipelineError) {
            response = try await image.image(imageRequest)
        } catch {
            context.logDetails = AccessLogDetails(imageRequest.source, as: image.configuration.logSources, error: error)
            throw Problem(error, of: imageRequest.source, for: request, in: context, image.configuration)
        }
        context.logDetails = AccessLogDetails(imageRequest.source, as: image.configuration.logSources, response)
        guard let summary = try? SourceSummary(parsing: response.body) else { throw .internalError }
        return summary
    }

    /// An image for each width that differs from the narrower images.
    private func images(
        _ query: SrcsetQuery, of request: ImageRequest, _ source: SourceSummary
    ) throws(Problem) -> [SrcsetImage] {
        var images: [SrcsetImage] = []
        for wanted in query.images {
            var image = SrcsetImage(query: wanted, planned: try planned(wanted, request, source))
            guard image.planned.size.width > images.last?.planned.size.width ?? 0 else { continue }
            // The URL with the true width, if it gives the same image: one cache entry instead of two.
            if let exact = query.image(covering: image.planned.size.width), exact != wanted,
                let planned = try? planned(exact, request, source), planned == image.planned
            {
                image.query = exact
            }
            images.append(image)
        }
        return images
    }

    private func planned(
        _ query: ImageQuery, _ request: ImageRequest, _ source: SourceSummary
    ) throws(Problem) -> PlannedSize {
        var request = request
        request.recipe = query.recipe
        do throws(PipelineError) { return try size(request, source) } catch { throw Problem(error) }
    }
}

extension SrcsetQuery {
    /// The formats that a `picture` offers besides the format of `img`: the formats of the query, or AVIF and WebP, as
    /// far as the server can write them. Only WebP shows an animation. Empty if the query names one format.
    fileprivate func pictureFormats(for source: SourceSummary, _ limits: QueryLimits) -> [OutputFormat] {
        guard first.isNegotiated else { return [] }
        let moves = source.isAnimated && first.pages.count != 1
        return (first.formats?.formats ?? [.avif, .webp]).filter {
            !limits.unwritable.contains($0) && (!moves || $0.supportsAnimation)
        }
    }
}
