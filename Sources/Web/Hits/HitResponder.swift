import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import Foundation
import HTTPTypes
import NIOCore

/// Answers hits on the event loop, by targets that the endpoint for images has answered before.
///
/// The decision is the pipeline's, and ``ImageHTTPResponse`` makes the fields. Whatever is not plainly a fresh
/// hit is left to the endpoint: only it refuses, fetches and produces.
struct HitResponder: FastResponder {
    let configuration: WebConfiguration
    let targets: KnownTargets
    let rateLimit: RateLimit
    let metrics: ImageMetrics
    /// Finds the image if that takes no waiting and it may be used.
    let image: @Sendable (ImageLookup) -> ImageResponse?

    func response(to request: FastRequest) -> FastResponse? {
        let start = NIODeadline.now()
        guard let target = targets[request.target], !request.passed(configuration.viaPseudonym),
            !dependsOnOrigin(request)
        else { return nil }
        let now = configuration.now()
        if let expires = target.authorization.expires, expires <= now { return nil }
        guard !(configuration.negotiation.usesClientHints && request.hasSizeHints),
            let form = target.form(configuration.negotiation, request),
            let image = image(target.lookups[form]),
            case let outcome = ImageMetrics.Outcome(image), outcome.isHit,
            admits(request, target)
        else { return nil }
        metrics.recordHit(outcome)
        let notModified = ImageHTTPResponse.isNotModified(image, request)
        let moment = HitHeads.Moment(image, validity: target.authorization.remaining(at: now), now: now)
        let head = target.withHeads(of: form) { heads in
            heads.head(
                of: image, from: target.source, as: configuration.logSources,
                isTagged: configuration.tagger != nil, notModified: notModified, at: moment
            ) {
                ImageHTTPResponse(
                    image: image, query: target.query, authorization: target.authorization,
                    configuration: configuration)
            }
        }
        let body = notModified ? ByteBuffer() : image.body
        rateLimit.charge(egressBytes: request.isHead ? 0 : body.readableBytes, to: target.authorization.key)
        let timings = Timings(total: .nanoseconds((NIODeadline.now() - start).nanoseconds))
        return FastResponse(
            status: notModified ? 304 : 200, head: head.bytes,
            content: .image(
                body: body, cacheStatus: head.cacheStatus, serverTiming: timings.serverTiming),
            details: head.details, metrics: target.metrics)
    }

    /// Whether the fields of the response depend on `Origin`.
    private func dependsOnOrigin(_ request: FastRequest) -> Bool {
        guard request.origin != nil, case .listed = configuration.access.origins else { return false }
        return true
    }

    private func admits(_ request: FastRequest, _ target: KnownTarget) -> Bool {
        var authorization = target.authorization
        authorization.client = configuration.access.client(of: authorization.key, address: request.clientName)
        return rateLimit.admits(authorization)
    }
}

extension ImageHTTPResponse {
    /// Whether the client has the image; see ``isNotModified(_:_:)``.
    fileprivate static func isNotModified(_ image: ImageResponse, _ request: FastRequest) -> Bool {
        guard request.ifNoneMatch != nil || request.ifModifiedSince != nil else { return false }
        var fields = HTTPFields()
        fields[.ifNoneMatch] = request.ifNoneMatch
        fields[.ifModifiedSince] = request.ifModifiedSince
        return Preconditions.evaluate(
            method: .get, fields: fields, tag: tag(of: image), lastModified: image.lastModified) == .notModified
    }
}
