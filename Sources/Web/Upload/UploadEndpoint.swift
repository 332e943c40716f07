import DarkroomHTTPServer
import DarkroomOrigin
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
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
        var route = AuthorizedRoute(ImageEndpoint.path, presets: .accepted) { head, authorization, _ throws(Problem) in
            guard let budget else { throw .uploadsDisabled }
            return try answer(head, authorization, budget)
        }
        route.methods = [.post]
        // In front of the signature, which would not help.
        if budget == nil { route.query = { _ throws(Problem) in throw .uploadsDisabled } }
        return [route]
    }

    private func answer(
        _ head: RequestHead, _ authorization: Authorization, _ budget: UploadBudget
    ) throws(Problem) -> Answer {
        let query = try requireValid(
            grammar.parseUpload(authorization.query, hints: image.clientHints(head)))
        let imageRequest = try image.imageRequest(query, of: head, authorization)
        // Reading a body has long steps.
        return .onPool { request, context async throws(Problem) in
            context.logDetails = image.details(of: imageRequest)
            // Everything but the body is checked before the client is asked for the body.
            let reader = UploadReader(
                form: try UploadForm(request.headers), budget: budget, client: head.clientName)
            try reader.checkLength(request.headers)
            if let error = image.refusalOfUpload(imageRequest) { throw image.varying(Problem(error), by: query) }
            return try await respond(to: request, context, authorization, reader, query, imageRequest)
        }
    }

    private func respond(
        to request: Request, _ context: ServerRequestContext, _ authorization: Authorization, _ reader: UploadReader,
        _ query: ImageQuery, _ imageRequest: ImageRequest
    ) async throws(Problem) -> Response {
        var imageRequest = imageRequest
        let start = ContinuousClock.now
        context.continueRequest()
        imageRequest.setSource(try await reader.read(request.body, announced: request.headers.announcedLength))
        let receiving = start.duration(to: .now)
        do throws(PipelineError) {
            var made = try await image.image(imageRequest)
            made.timings.fetch = receiving
            made.timings.total += receiving
            context.logDetails = image.details(of: imageRequest, made)
            return ImageHTTPResponse(
                image: made, query: query, authorization: authorization, configuration: image.configuration
            ).responseToUpload()
        } catch {
            context.logDetails = image.details(of: imageRequest, error: error)
            // Without its cause, a remembered failure would tell that the same bytes were uploaded before.
            throw image.varying(Problem(error.cause), by: query)
        }
    }
}
