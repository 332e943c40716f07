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
        switch error {
        case .invalidURL(let text): self.init(.invalidURL, text, parameter: "url")
        case .badParameter(let error): self.init(error, parameter: naming(error.parameter))
        case .notAllowed(let text): self.init(.sourceNotAllowed, text, parameter: "url")
        case .notFound(410?, _):
            self.init(.sourceGone, "The origin has removed the image at this URL.", parameter: "url")
        case .notFound: self.init(.sourceNotFound, "The origin has no image at this URL.", parameter: "url")
        case .tooLarge(let text): self.init(.sourceTooLarge, text)
        case .unsupported:
            self.init(
                .unsupportedImage,
                "The source is not a \(SourceFormat.names) image, regardless of its name or content type.")
        case .missingDecoder(let format):
            self.init(
                .unsupportedImage, "The source cannot be read: \(MissingCodec.decoder(format).reason).")
        case .outdatedDecoder(let feature):
            self.init(.corruptImage, "The source cannot be read: \(feature.reason).")
        case .corrupt:
            self.init(.corruptImage, "The source is corrupt, truncated or of another format than it claims.")
        case .originFailed(let trouble): self.init(trouble)
        case .originTimedOut(let trouble): self.init(.originTimeout, trouble.sentence)
        case .originUnavailable(let seconds):
            self.init(
                .originUnavailable, "The origin's host failed repeatedly and is temporarily not contacted.",
                retryAfterSeconds: seconds)
        case .remembered(let error, let seconds, let isBeyondHTTP):
            self.init(error, naming: naming)
            markCached(forSeconds: seconds, as: isBeyondHTTP ? "failure-memory" : "failure")
        case .notCached:
            self.init(.notCached, "The request accepts only a cached response, and there is no usable one.")
        case .timedOut: self.init(.timeout, "The image was not ready within the time limit of a request.")
        case .overloaded(let seconds):
            self.init(.overloaded, "All workers are busy and the queue is full.", retryAfterSeconds: seconds)
        case .loop: self = .loop
        case .cancelled: self = .shutDown
        case .failed: self = .internalError
        case .mark(let error, let name):
            self.init(error, naming: naming)
            blame(PartImage.parameter(of: name))
        }
        parameter = parameter.map { naming($0) ?? $0 }
        fields[.proxyStatus] = error.proxyStatus?.description
    }

    /// Says that the problem is about an image that is drawn, instead of the source.
    private mutating func blame(_ part: String) {
        detail = "\(part == "mark" ? "The watermark" : "The image of '\(part)'") cannot be used: \(detail)"
        parameter = part
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
