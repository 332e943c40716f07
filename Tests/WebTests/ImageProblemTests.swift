import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

struct ImageProblemTests {
    @Test(
        arguments: [
            (PipelineError.invalidURL("No."), 400, "invalid-url", "url"),
            (.badParameter(TransformError(parameter: "crop", reason: "too wide")), 400, "invalid-parameter", "crop"),
            (.notAllowed("No."), 403, "source-not-allowed", "url"),
            (.notFound(status: 404), 404, "source-not-found", "url"),
            (.notFound(status: 410), 410, "source-gone", "url"),
            (.notFound(status: nil), 404, "source-not-found", "url"),
            (.tooLarge("No."), 413, "source-too-large", nil), (.unsupported, 415, "unsupported-image", nil),
            (.corrupt, 422, "corrupt-image", nil), (.originFailed(OriginFailure("No.")), 502, "origin-failed", nil),
            (.originTimedOut(OriginFailure("No.")), 504, "origin-timeout", nil),
            (.originUnavailable(retryAfterSeconds: 7), 503, "origin-unavailable", nil),
            (.remembered(.corrupt, retryAfterSeconds: 7), 422, "corrupt-image", nil),
            (.notCached, 504, "not-cached", nil), (.timedOut, 504, "timeout", nil),
            (.overloaded(retryAfterSeconds: 7), 503, "overloaded", nil), (.loop, 508, "loop", nil),
            (.cancelled, 503, "unavailable", nil), (.failed, 500, "internal-error", nil),
        ] as [(PipelineError, Int, String, String?)])
    func `Every pipeline error has a status, a type and the faulty parameter`(
        error: PipelineError, status: Int, slug: String, parameter: String?
    ) {
        let document = Problem(error).document(requestID: "7")
        #expect(document.status == status)
        #expect(document.type == "/problems/\(slug)")
        #expect(document.parameter == parameter)
        #expect(document.instance == "urn:request:7")
        #expect(!document.title.isEmpty && !document.detail.isEmpty)
        // The server's own states have other sentences than the library's.
        if !["loop", "unavailable", "internal-error"].contains(slug) { #expect(error.description == document.detail) }
        #expect(error.description.hasSuffix(".") && error.localizedDescription == error.description)
    }

    @Test(
        arguments: [
            (400, 403, "origin-refused"), (401, 403, "origin-refused"), (403, 403, "origin-refused"),
            (451, 403, "origin-refused"), (408, 502, "origin-failed"), (425, 502, "origin-failed"),
            (429, 503, "origin-busy"), (204, 502, "origin-failed"), (300, 502, "origin-failed"),
            (500, 502, "origin-failed"), (503, 502, "origin-failed"),
        ])
    func `Only an origin that fails is a bad gateway`(received: Int, status: Int, slug: String) {
        let problem = Problem(.originFailed(OriginFailure("No.", receivedStatus: received)))
        #expect((problem.kind.status.code, problem.kind.slug) == (status, slug))
    }

    @Test func `A fallback is for the statuses that problems have`() {
        let received = [400, 401, 403, 408, 425, 429, 451, 500, 503].map {
            PipelineError.originFailed(OriginFailure("No.", receivedStatus: $0))
        }
        let errors: [PipelineError] = [
            .notFound(status: 404), .notFound(status: 410), .notFound(status: nil), .tooLarge("No."), .unsupported,
            .missingDecoder(.heic), .corrupt, .originTimedOut(OriginFailure("No.")),
            .originUnavailable(retryAfterSeconds: 1), .remembered(.corrupt, retryAfterSeconds: 1),
        ]
        for error in errors + received {
            #expect(error.statusOfSource == Problem(error).kind.status.code, "\(error)")
        }
        let others: [PipelineError] = [
            .invalidURL("No."), .notAllowed("No."), .notCached, .timedOut, .overloaded(retryAfterSeconds: 1), .loop,
            .cancelled, .failed, .badParameter(TransformError(parameter: "crop", reason: "no")),
        ]
        for error in others { #expect(error.statusOfSource == nil, "\(error)") }
    }

    @Test(arguments: [(429, 40), (503, 40)]) func `The wait that an origin asks for is passed on`(
        status: Int, seconds: Int
    ) {
        let failure = OriginFailure("No.", receivedStatus: status, retryAfterSeconds: seconds)
        #expect(Problem(.originFailed(failure)).headerFields[.retryAfter] == "\(seconds)")
    }

    @Test func `A transform's error becomes one sentence`() {
        let problem = Problem(.badParameter(TransformError(parameter: "crop", reason: "it is too wide")))
        #expect(problem.detail == "Parameter 'crop' cannot be applied: it is too wide.")
    }

    @Test func `A request without parameters gets a sentence without them, also of an earlier failure`() {
        let error = PipelineError.badParameter(TransformError(parameter: "crop", reason: "it is too wide"))
        for error in [error, .remembered(error, retryAfterSeconds: 1)] {
            let problem = Problem(error) { _ in nil }
            #expect(problem.detail == "The image cannot be made: it is too wide.")
            #expect(problem.parameter == nil)
        }
    }

    @Test func `The problem of a mark is the problem of a source, with the mark as parameter`() {
        let problem = Problem(.mark(.remembered(.corrupt, retryAfterSeconds: 1)))
        #expect(problem.detail == "The watermark cannot be used: \(Problem(.corrupt).detail)")
        #expect(problem.parameter == "mark")
        #expect(problem.kind == .corruptImage)
    }

    @Test func `The response is an uncacheable problem document`() {
        var problem = Problem(.overloaded(retryAfterSeconds: 7))
        problem.fields[.vary] = "Accept"
        let fields = problem.headerFields
        #expect(problem.kind.status == .serviceUnavailable)
        #expect(fields[.contentType] == "application/problem+json")
        #expect(fields[.cacheControl] == "no-store")
        #expect(fields[.xContentTypeOptions] == "nosniff")
        #expect(fields[.retryAfter] == "7")
        #expect(fields[.vary] == "Accept")
        #expect(problem.document(requestID: "7").parameter == nil)
    }

    @Test(
        arguments: [
            (PipelineError.corrupt, nil), (.originFailed(OriginFailure("No.", proxyError: .dnsError)), "7"),
            (.notFound(status: 404), nil), (.originTimedOut(OriginFailure("No.")), "7"), (.unsupported, nil),
        ] as [(PipelineError, String?)])
    func `A cached failure is marked, and says when to retry if that can help`(
        error: PipelineError, retryAfter: String?
    ) {
        let now = Problem(error).headerFields
        #expect(now[.cacheStatus] == nil)
        #expect(now[.retryAfter] == nil)
        let later = Problem(.remembered(error, retryAfterSeconds: 7)).headerFields
        #expect(later[.cacheStatus] == "darkroom;hit;ttl=7;detail=failure")
        let beyond = Problem(.remembered(error, retryAfterSeconds: 7, isBeyondHTTP: true)).headerFields
        #expect(beyond[.cacheStatus] == "darkroom;hit;ttl=7;detail=failure-memory")
        #expect(later[.retryAfter] == retryAfter)
        #expect(later[.proxyStatus] == now[.proxyStatus])
        #expect(later[.cacheControl] == "no-store")
    }

    @Test(
        arguments: [
            (
                PipelineError.originFailed(OriginFailure("No.", proxyError: .connectionRefused)),
                "darkroom;error=connection_refused"
            ),
            (.originFailed(OriginFailure("No.", receivedStatus: 500)), "darkroom;received-status=500"),
            (.originTimedOut(OriginFailure("No.", proxyError: .dnsTimeout)), "darkroom;error=dns_timeout"),
            (.originUnavailable(retryAfterSeconds: 1), "darkroom;error=destination_unavailable"),
            (.notFound(status: 410), "darkroom;received-status=410"), (.notFound(status: nil), nil),
            (.loop, "darkroom;error=proxy_loop_detected"), (.corrupt, nil), (.timedOut, nil), (.notCached, nil),
            (.overloaded(retryAfterSeconds: 1), nil),
        ] as [(PipelineError, String?)])
    func `Failures of the origin have their error type of RFC 9209`(error: PipelineError, text: String?) {
        #expect(Problem(error).headerFields[.proxyStatus] == text)
    }

    @Test func `Only a missing or wrong token comes with a challenge`() {
        for kind in ProblemKind.all {
            #expect(Problem(kind, "No.").headerFields[.wwwAuthenticate] == nil)
        }
        #expect(
            Problem.adminTokenWrong.headerFields[.wwwAuthenticate] == #"Bearer realm="darkroom""#)
    }

    @Test func `Kinds differ in slug and title`() {
        #expect(Set(ProblemKind.all.map(\.slug)).count == ProblemKind.all.count)
        #expect(Set(ProblemKind.all.map(\.title)).count == ProblemKind.all.count)
        #expect(ProblemKind.all.allSatisfy { (400..<600).contains($0.status.code) })
    }
}
