public import Transforms

/// Why there is no picture. Every text is fit for a client: it tells what to do and nothing private.
public enum PipelineError: Error, Sendable, Equatable {
    /// The address cannot be parsed, or its scheme is none of ours.
    case invalidURL(String)
    /// The request cannot be done on this picture: parameter and reason.
    case badParameter(TransformError)
    /// Host, port or address is not among those we may contact.
    case notAllowed(String)
    /// The origin has no such picture.
    case notFound
    /// More bytes, pixels or frames than accepted.
    case tooLarge(String)
    /// The bytes are no image that we decode.
    case unsupported
    /// The bytes are damaged or cut off.
    case corrupt
    /// The origin could not be reached or answered with something other than a picture.
    case originFailed(String)
    /// The origin did not deliver in time.
    case originTimedOut
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
}
