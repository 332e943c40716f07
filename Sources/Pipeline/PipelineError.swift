public import DarkroomHTTPCaching
public import DarkroomTransforms

/// Why there is no picture. Every text is fit for a client: it tells what to do and nothing private.
public indirect enum PipelineError: Error, Sendable, Hashable {
    /// The address cannot be parsed, or its scheme is none of ours.
    case invalidURL(String)
    /// The request cannot be done on this picture: parameter and reason.
    case badParameter(TransformError)
    /// Host, port or address is not among those we may contact.
    case notAllowed(String)
    /// The origin has no such picture: it answered 404 or 410; nil = there is no such local file.
    case notFound(status: Int?)
    /// More bytes, pixels or frames than accepted.
    case tooLarge(String)
    /// The bytes are no image that we decode.
    case unsupported
    /// The bytes are damaged or cut off.
    case corrupt
    /// The origin could not be reached or answered with something other than a picture.
    case originFailed(OriginFailure)
    /// The origin did not deliver in time.
    case originTimedOut(OriginFailure)
    /// The origin's host failed so often that it is left alone for a while.
    case originUnavailable(retryAfterSeconds: Int)
    /// An earlier request failed like this, and the source is left alone for so long.
    case remembered(PipelineError, retryAfterSeconds: Int)
    /// The client wanted an answer from the cache only, and there is none.
    case notCached
    /// The picture could not be made in time.
    case timedOut
    /// All workers are busy and the queue is full.
    case overloaded(retryAfterSeconds: Int)
    /// The request has come through this very server already.
    case loop
    /// Nobody waits for the answer any more.
    case cancelled
    /// Something failed here that should not have.
    case failed

    /// The failure itself, whether it happened now or is remembered.
    public var cause: PipelineError {
        if case .remembered(let error, _) = self { error.cause } else { self }
    }
}

/// What an origin did wrong.
public struct OriginFailure: Hashable, Sendable {
    /// For clients.
    public var sentence: String
    /// Its name in RFC 9209; nil = the origin answered, with `receivedStatus`.
    public var proxyError: ProxyStatus.Failure?
    /// What the origin answered; nil = nothing that has a status.
    public var receivedStatus: Int?

    /// What went wrong, for clients, with its names in the protocols.
    public init(_ sentence: String, proxyError: ProxyStatus.Failure? = nil, receivedStatus: Int? = nil) {
        self.sentence = sentence
        self.proxyError = proxyError
        self.receivedStatus = receivedStatus
    }
}
