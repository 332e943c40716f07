import DarkroomHTTPServer
import DarkroomOrigin
import DarkroomPipeline
import DarkroomQuery
import HTTPTypes
import Hummingbird

/// `POST /image`: transforms the image in the body of the request.
struct UploadEndpoint: Sendable {
    /// Makes the image, as for `GET`.
    private let image: ImageEndpoint
    private let grammar: ImageQueryGrammar

    init(image: ImageEndpoint) {
        self.image = image
        grammar = .upload(limits: image.configuration.limits)
    }

    var routes: [AuthorizedRoute] {
        let budget = image.configuration.uploads
        var route = AuthorizedRoute(ImageEndpoint.path, presets: .accepted) {
            request, context, authorization throws(Problem) in
            guard let budget else { throw .uploadsDisabled }
            return try await respond(to: request, context, authorization, budget)
        }
        route.methods = [.post]
        // In front of the signature, which would not help.
        if budget == nil { route.query = { _, _ throws(Problem) in throw .uploadsDisabled } }
        return [route]
    }

    private func respond(
        to request: Request, _ context: ServerRequestContext, _ authorization: Authorization, _ budget: UploadBudget
    ) async throws(Problem) -> Response {
        guard !request.headers.viaContains(image.configuration.viaPseudonym) else { throw .loop }
        let query = try requireValid(
            grammar.parseUpload(authorization.query, hints: image.clientHints(request.headers)))
        // Everything but the body is checked before the client is asked for the body.
        var imageRequest = try image.imageRequest(query, of: request.headers, authorization, in: context)
        let reader = UploadReader(
            form: try UploadForm(request.headers), budget: budget, client: context.client)
        try reader.checkLength(request.headers)
        if let error = image.refusalOfUpload(imageRequest) { throw image.problem(error, of: query) }

        let start = ContinuousClock.now
        context.continueRequest()
        imageRequest.setSource(try await reader.read(request.body, announced: request.headers.announcedLength))
        let receiving = start.duration(to: .now)
        do throws(PipelineError) {
            var made = try await image.image(imageRequest)
            made.timings.fetch = receiving
            made.timings.total += receiving
            context.logDetails = AccessLogDetails(imageRequest.source, as: image.configuration.logSources, made)
            return ImageHTTPResponse(
                image: made, query: query, authorization: authorization, configuration: image.configuration
            ).responseToUpload()
        } catch {
            context.logDetails = AccessLogDetails(imageRequest.source, as: image.configuration.logSources, error: error)
            // Without its cause, a remembered failure would tell that the same bytes were uploaded before.
            throw image.problem(error.cause, of: query)
        }
    }
}
