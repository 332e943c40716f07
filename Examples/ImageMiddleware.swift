import Darkroom
import HTTPTypes
import Hummingbird

/// The routes of an app, with images of one site.
func routes() -> Router<BasicRequestContext> {
    var downloads = GuardedHTTPClient.Settings()
    downloads.hosts.allowHosts = ["*.example.com"]
    let router = Router()
    router.add(middleware: ImageMiddleware(pipeline: ImagePipeline(downloads: downloads)))
    return router
}

/// Answers `GET /image?url=…&w=…` of a Hummingbird app. Other requests go to the app's routes.
struct ImageMiddleware<Context: RequestContext>: RouterMiddleware {
    let pipeline: ImagePipeline
    /// The widths that clients may ask for, so that they cannot fill the cache with others.
    var widths = [320, 640, 1280]

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.method == .get, request.uri.path == "/image" else { return try await next(request, context) }
        let parameters = request.uri.queryParameters
        guard let url = parameters["url"], let width = parameters["w"].flatMap({ Int($0) }), widths.contains(width)
        else {
            throw HTTPError(.badRequest, message: "Give 'url', and 'w' as one of \(widths).")
        }
        do throws(PipelineError) {
            let output = OutputOptions(format: .webp)
            let image = try await pipeline.image(for: ImageRequest(url: String(url), width: width, output: output))
            return response(with: image, to: request)
        } catch {
            throw HTTPError(status(of: error))
        }
    }

    private func response(with image: ImageResponse, to request: Request) -> Response {
        let tag = EntityTag(image.digest)
        let caching = image.cachePolicy.cacheControl(age: image.age, asked: nil, cap: .seconds(86400))
        let fields: HTTPFields = [
            .cacheControl: caching.description, .age: "\(max(0, image.age.components.seconds))",
            .eTag: tag.description, .contentType: image.format.mediaType,
        ]
        let outcome = Preconditions.evaluate(method: .get, fields: request.headers, tag: tag, lastModified: nil)
        guard outcome == .proceed else { return Response(status: .notModified, headers: fields) }
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: image.body))
    }

    private func status(of error: PipelineError) -> HTTPResponse.Status {
        switch error.cause {
        case .invalidURL, .badParameter: .badRequest
        case .notAllowed: .forbidden
        case .notFound: .notFound
        case .tooLarge: .contentTooLarge
        case .unsupported, .missingDecoder: .unsupportedMediaType
        case .corrupt, .outdatedDecoder: .unprocessableContent
        case .overloaded, .originUnavailable, .cancelled: .serviceUnavailable
        case .originTimedOut, .timedOut: .gatewayTimeout
        default: .badGateway
        }
    }
}
