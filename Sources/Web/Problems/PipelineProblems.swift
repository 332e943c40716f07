import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomOrigin
import DarkroomPipeline
import DarkroomRequests
import DarkroomTransforms
import HTTPTypes

extension Problem {
    /// - Parameter naming: the name that the sender of the request knows a parameter by; nil = none.
    init(_ error: PipelineError, naming: (String) -> String? = { $0 }) {
        let sentence = error.description
        switch error {
        case .invalidURL: self.init(.invalidURL, sentence, parameter: "url")
        case .badParameter(let error): self.init(error, parameter: naming(error.parameter))
        case .notAllowed: self.init(.sourceNotAllowed, sentence, parameter: "url")
        case .notFound(410?, _): self.init(.sourceGone, sentence, parameter: "url")
        case .notFound: self.init(.sourceNotFound, sentence, parameter: "url")
        case .tooLarge: self.init(.sourceTooLarge, sentence)
        case .unsupported, .missingDecoder: self.init(.unsupportedImage, sentence)
        case .outdatedDecoder, .corrupt: self.init(.corruptImage, sentence)
        case .originFailed(let trouble): self.init(trouble)
        case .originTimedOut: self.init(.originTimeout, sentence)
        case .originUnavailable(let seconds): self.init(.originUnavailable, sentence, retryAfterSeconds: seconds)
        case .remembered(let error, let seconds, let isBeyondHTTP):
            self.init(error, naming: naming)
            markCached(forSeconds: seconds, as: isBeyondHTTP ? "failure-memory" : "failure")
        case .notCached: self.init(.notCached, sentence)
        case .timedOut: self.init(.timeout, sentence)
        case .overloaded(let seconds): self.init(.overloaded, sentence, retryAfterSeconds: seconds)
        case .loop: self = .loop
        case .cancelled: self = .shutDown
        case .failed: self = .internalError
        case .mark(let error, let name):
            self.init(error, naming: naming)
            detail = PipelineError.sentence(detail, aboutPart: name)
            parameter = PartImage.parameter(of: name)
        }
        parameter = parameter.map { naming($0) ?? $0 }
        fields[.proxyStatus] = error.proxyStatus?.description
    }

    /// The problem of an origin that answers without an image. The status says whether the origin fails.
    private init(_ failure: OriginFailure) {
        switch failure.verdict {
        case .refused: self.init(.originRefused, failure.sentence, parameter: "url")
        case .busy: self.init(.originBusy, failure.sentence, retryAfterSeconds: failure.retryAfterSeconds ?? 1)
        case .failed: self.init(.originFailed, failure.sentence, retryAfterSeconds: failure.retryAfterSeconds)
        }
    }

    /// The problem of a request for a source. A client on this machine probably belongs to the operator, and learns
    /// which setting would allow the source.
    init(
        _ error: PipelineError, of source: SourceURL, for head: RequestHead,
        _ configuration: WebConfiguration, naming: (String) -> String? = { $0 }
    ) {
        self.init(error, naming: naming)
        guard head.isLocal else { return }
        switch error.cause {
        case .notAllowed:
            let missing = configuration.missingPermission(source)?.settings ?? []
            guard !missing.isEmpty else { return }
            detail += " To allow it, add \(missing.map { "\($0.value) to '\($0.name)'" }.joined(separator: ", and "))."
        case .originFailed(let failure) where failure.proxyError == .dnsError:
            // The address of an internal name stays in the log, because a proxy may be in between without a trace.
            detail += " If it leads to an address that is not public, the log names the setting that allows it."
        default: break
        }
    }

    /// Marks the problem as known from an earlier request and cached for some more seconds. The detail is `failure` if
    /// HTTP caching allows it, `failure-memory` if only this server's memory does.
    private mutating func markCached(forSeconds seconds: Int, as detail: CacheStatus.Name) {
        fields[.cacheStatus] = CacheStatus(cache: "darkroom", .hit, ttl: seconds, detail: detail).description
        if kind.status.kind == .serverError { retryAfterSeconds = seconds }
    }

    private init(_ error: TransformError, parameter: String?) {
        let subject = parameter.map { "Parameter '\($0)' cannot be applied" } ?? "The image cannot be made"
        self.init(.invalidParameter, "\(subject): \(error.reason).", parameter: parameter)
    }
}

extension PipelineError {
    /// The value of `Proxy-Status` (RFC 9209) for failures of the origin; nil for other errors.
    var proxyStatus: ProxyStatus? {
        switch cause {
        case .mark(let error, _): error.proxyStatus
        case .originFailed(let trouble), .originTimedOut(let trouble):
            ProxyStatus(proxy: "darkroom", trouble.proxyError, receivedStatus: trouble.receivedStatus)
        case .notFound(let status?, _): ProxyStatus(proxy: "darkroom", nil, receivedStatus: status)
        case .originUnavailable: ProxyStatus(proxy: "darkroom", .destinationUnavailable)
        case .loop: ProxyStatus(proxy: "darkroom", .proxyLoopDetected)
        default: nil
        }
    }

    /// The failure of the origin for the access log: the error of ``proxyStatus`` or, if the origin responded with an
    /// unusable status, the result in `darkroom_origin_requests_total`. Nil for other errors.
    var originError: String? {
        guard let proxyStatus else { return nil }
        if let failure = proxyStatus.failure { return failure.rawValue }
        if case .mark(let error, _) = cause { return error.originError }
        if case .notFound = cause { return "not_found" }
        return "unexpected_status"
    }
}
