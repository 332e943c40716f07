import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import DarkroomTransforms
import HTTPTypes
import Hummingbird

/// `GET /srcset`: the URLs of one image in several widths, up to the greatest width that the source and the limits
/// allow. It reads the source's header as `/info` does, and processes nothing.
struct SrcsetEndpoint: Sendable {
    private let image: ImageEndpoint
    private let grammar: SrcsetGrammar
    private let urls: ImageURLBuilder
    private let describe: @Sendable (ImageRequest) async throws(PipelineError) -> DescribedSource
    private let size: @Sendable (ImageRequest, SourceSummary) throws(PipelineError) -> PlannedSize
    private let plan: @Sendable (ImageRequest, DescribedSource) async throws(PipelineError) -> ImagePlan

    /// The most bytes of all URLs, which the document repeats several times.
    private static let maxListBytes = 256 << 10

    /// - Parameters:
    ///   - image: reads the header fields that affect images.
    ///   - describe: describes sources.
    ///   - plan: plans an image of a described source, or throws the error of requesting it.
    init(
        image: ImageEndpoint,
        describe: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> DescribedSource,
        size: @escaping @Sendable (ImageRequest, SourceSummary) throws(PipelineError) -> PlannedSize,
        plan: @escaping @Sendable (ImageRequest, DescribedSource) async throws(PipelineError) -> ImagePlan
    ) {
        self.image = image
        (self.describe, self.size, self.plan) = (describe, size, plan)
        grammar = SrcsetGrammar(limits: image.configuration.limits)
        urls = ImageURLBuilder(image.configuration)
    }

    /// The endpoint of a pipeline. Descriptions of sources count as image requests.
    init(image: ImageEndpoint, _ pipeline: ImagePipeline, _ metrics: ImageMetrics) {
        let describe = { @Sendable (request: ImageRequest) async throws(PipelineError) -> DescribedSource in
            let source = try await metrics.countingFailures { () throws(PipelineError) in
                try await pipeline.describe(request)
            }
            metrics.record(source.response)
            return source
        }
        self.init(image: image, describe: describe, size: pipeline.size, plan: pipeline.plan)
    }

    var routes: [AuthorizedRoute] {
        [AuthorizedRoute("/srcset", presets: .unsupported, answer: answer)]
    }

    private func answer(
        _ head: RequestHead, _ authorization: Authorization, _ known: KnownTarget?
    ) throws(Problem) -> Answer {
        let query = try requireValid(grammar.parse(authorization.query))
        let imageRequest = try image.imageRequest(query.first, of: nil, authorization)
        let sourceRequest = try image.imageRequest(query.sourceQuery, of: head, authorization)
        return .later { _, context async throws(Problem) in
            try await response(to: query, imageRequest, sourceRequest, authorization, head, context)
        }
    }

    private func response(
        to query: SrcsetQuery, _ imageRequest: ImageRequest, _ sourceRequest: ImageRequest,
        _ authorization: Authorization, _ head: RequestHead, _ context: ServerRequestContext
    ) async throws(Problem) -> Response {
        let source = try await described(sourceRequest, head, context)
        guard let summary = try? SourceSummary(parsing: source.response.body) else { throw .internalError }
        let (images, refusal) = try await answerable(
            images(query, of: imageRequest, summary), of: source, authorization)
        if images.isEmpty, let refusal { throw Problem(refusal) }
        var pictures: [(format: OutputFormat, images: [SrcsetImage])] = []
        for format in query.pictureFormats(for: summary, image.configuration.limits) {
            let converted = images.map { SrcsetImage(query: $0.query.converted(to: format), planned: $0.planned) }
            // A browser shows nothing if the URL of the first format that it supports fails.
            let made = try await answerable(converted, of: source, authorization).images
            if !made.isEmpty { pictures.append((format, made)) }
        }
        let origin = origin(of: head)
        let url = { @Sendable (query: ImageQuery) in origin + urls.url(of: query, for: authorization) }
        let bytes = images.count * (images.last.map { url($0.query).utf8.count } ?? 0)
        guard bytes <= Self.maxListBytes else {
            throw Problem(.invalidParameter, "The list of these URLs would be too long: shorten the query or 'widths'.")
        }
        return .json(SrcsetDocument(images, sizes: query.sizes, pictures: pictures, url: url))
    }

    /// What precedes URLs that have no host: scheme and host, if a trusted proxy states both, or nothing. If the scheme
    /// were guessed, a page behind TLS would load nothing.
    private func origin(of head: RequestHead) -> String {
        guard image.configuration.publicURL == nil, let origin = head.forwardedOrigin, let scheme = origin.scheme,
            let host = origin.host
        else { return "" }
        return "\(scheme)://\(host)"
    }

    /// Describes the source, or its fallback, as `/info` does.
    private func described(
        _ imageRequest: ImageRequest, _ head: RequestHead, _ context: ServerRequestContext
    ) async throws(Problem) -> DescribedSource {
        let source: DescribedSource
        do throws(PipelineError) {
            source = try await describe(imageRequest)
        } catch {
            context.logDetails = image.details(of: imageRequest, error: error)
            throw Problem(error, of: imageRequest.source, for: head, image.configuration)
        }
        context.logDetails = image.details(of: imageRequest, source.response)
        return source
    }

    /// The images up to the widest that is not refused, in the format for a client that names none, and the last
    /// refusal. A wider image takes no less time, so the widest is usually the only one to plan.
    private func answerable(
        _ images: [SrcsetImage], of source: DescribedSource, _ authorization: Authorization
    ) async throws(Problem) -> (images: [SrcsetImage], refusal: PipelineError?) {
        var refusal: PipelineError?
        for count in stride(from: images.count, through: 1, by: -1) {
            let request = try image.imageRequest(images[count - 1].query, of: nil, authorization)
            do throws(PipelineError) {
                _ = try await plan(request, source)
                return (Array(images.prefix(count)), refusal)
            } catch {
                guard error.isRefusalOfImage else { throw Problem(error) }
                refusal = error
            }
        }
        return ([], refusal)
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
    /// The formats that a `picture` offers besides the format of `img`: the formats of the query, or AVIF, JPEG XL and
    /// WebP, as far as the server can write them. An animation is WebP only, since it is often larger as JPEG XL. Empty
    /// if the query names one format.
    fileprivate func pictureFormats(for source: SourceSummary, _ limits: QueryLimits) -> [OutputFormat] {
        guard first.isNegotiated else { return [] }
        let moves = source.isAnimated && first.pages.count != 1
        return (first.formats?.formats ?? [.avif, .jxl, .webp]).filter {
            !limits.unwritable.contains($0) && (!moves || $0 == .webp)
        }
    }
}
