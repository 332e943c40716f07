import AsyncHTTPClient
import DarkroomHTTPClient
import DarkroomMachine
import DarkroomNetwork
import DarkroomWaiting
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization

/// Receives one response on the event loop: decides by its head, counts its body while it arrives, and aborts as soon
/// as nothing more is needed. Aborting closes the connection, which is cheaper than waiting for the end of a hostile
/// response.
final class ResponseCollector: HTTPClientResponseDelegate {
    /// The received part of the response.
    struct Progress {
        var requestedAt: Date?
        var head: HTTPResponseHead?
        var receivedAt = Date.distantPast
        var action: ResponseAction?
        var body = SharedBytesWriter()
        var reserved = ReservedSize()
        /// Whether all content codings have reached their ends.
        var isDecoded = true
    }

    private struct Aborted: Error {}

    private let state = Mutex(Progress())
    private let maxSourceBytes: Int
    private let isConditional: Bool
    /// Given up with the result, so that a longer life of the collector reserves no bytes.
    private let reservation: Mutex<ByteReservation?>
    /// Nil if the body has no content coding, or is not needed any more.
    private let decoder = Mutex<ContentDecoder?>(nil)
    private let phases: DownloadProgress
    private let onProgress: @Sendable (PartialOriginal) -> Void

    init(
        maxSourceBytes: Int, isConditional: Bool, reservation: ByteReservation, phases: DownloadProgress,
        onProgress: @escaping @Sendable (PartialOriginal) -> Void
    ) {
        self.maxSourceBytes = min(maxSourceBytes, SharedBytesWriter.maxBytes)
        self.isConditional = isConditional
        self.reservation = Mutex(reservation)
        self.phases = phases
        self.onProgress = onProgress
    }

    /// Returns the result. Call it once, after the transfer.
    func finish() -> Progress {
        let isDecoded = decoder.withLock { $0.take()?.isComplete ?? true }
        let progress = state.withLock { state in
            defer { state.body = SharedBytesWriter() }
            state.isDecoded = isDecoded
            return state
        }
        reservation.withLock { $0.take() }?.finish(bytes: progress.body.count)
        return progress
    }

    /// Ends a wait for bytes of the budget, which a canceled transfer would not leave.
    func stopWaiting() { reservation.withLock(\.self)?.finish(bytes: 0) }

    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) {
        state.withLock { $0.requestedAt = Date() }
        phases.enter(.response)
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let action = ResponseAction(head, maxSourceBytes: maxSourceBytes, isConditional: isConditional)
        phases.enter(.body)
        state.withLock {
            $0.head = head
            $0.receivedAt = Date()
            $0.action = action
            if case .content(let sizeHint, _) = action {
                $0.body = SharedBytesWriter(expectedBytes: sizeHint)
            }
        }
        if case .content(_, let codings) = action, !codings.isEmpty {
            decoder.withLock { $0 = ContentDecoder(codings, maxBytes: maxSourceBytes) }
        }
        switch action {
        // Nothing is read until the announced length is reserved.
        case .content(let sizeHint, _) where sizeHint > 0: return reserve(sizeHint, task)
        // "Not modified" has no body, so its connection can be reused.
        case .content, .notModified: return task.eventLoop.makeSucceededVoidFuture()
        case .redirect, .missing, .unexpectedStatus, .fail: return task.eventLoop.makeFailedFuture(Aborted())
        }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let isCoded = decoder.withLock { decoder in
            decoder?.append(buffer)
            return decoder != nil
        }
        return isCoded ? decode(task) : append(buffer, task)
    }

    /// Decodes one piece after another. Between them, the event loop does other work.
    private func decode(_ task: HTTPClient.Task<Void>) -> EventLoopFuture<Void> {
        let piece: ByteBuffer?
        do throws(OriginError) {
            piece = try decoder.withLock { decoder throws(OriginError) in try decoder?.next() }
        } catch {
            state.withLock { $0.action = .fail(error) }
            return task.eventLoop.makeFailedFuture(Aborted())
        }
        guard let piece else { return task.eventLoop.makeSucceededVoidFuture() }
        return append(piece, task).flatMap { task.eventLoop.flatSubmit { self.decode(task) } }
    }

    private func append(_ buffer: ByteBuffer, _ task: HTTPClient.Task<Void>) -> EventLoopFuture<Void> {
        let partial = state.withLock { state -> PartialOriginal? in
            guard state.body.count + buffer.readableBytes <= maxSourceBytes else {
                state.action = .fail(.tooLarge(limitBytes: maxSourceBytes))
                return nil
            }
            state.body.append(buffer)
            guard case .content(let sizeHint, _) = state.action else { return nil }
            return PartialOriginal(receivedBytes: state.body.count, expectedBytes: sizeHint > 0 ? sizeHint : nil)
        }
        guard let partial else { return task.eventLoop.makeFailedFuture(Aborted()) }
        onProgress(partial)
        return reserve(partial.receivedBytes, task)
    }

    /// Pauses reading until that many bytes are reserved and, without an announced length, some that may follow.
    private func reserve(_ bytes: Int, _ task: HTTPClient.Task<Void>) -> EventLoopFuture<Void> {
        let size = state.withLock { $0.reserved.grow(to: bytes, received: $0.body.count, atMost: maxSourceBytes) }
        guard let size, let reservation = reservation.withLock(\.self) else {
            return task.eventLoop.makeSucceededVoidFuture()
        }
        // A deadline that passes during this wait is not the host's fault.
        phases.enter(.waiting)
        return reservation.reserve(size, on: task.eventLoop).always { [phases] _ in phases.enter(.body) }
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}
}

extension ResponseCollector.Progress {
    /// The response, or the reason for its absence. Not for redirects.
    ///
    /// - Parameter result: the result of the transfer. It counts only if the body was needed, since transfers without a
    ///   needed body are aborted.
    func response(
        from url: SourceURL, sentFields: HTTPFields, result: Result<Void, any Error>
    ) throws(ExchangeFailure) -> OriginResponse {
        switch action {
        case .fail(let error): throw ExchangeFailure(error)
        case .content, nil:
            if case .failure(let thrown) = result {
                throw ExchangeFailure(thrown, requestSent: requestedAt != nil, headReceived: head != nil)
            }
        case .notModified, .redirect, .missing, .unexpectedStatus: break
        }
        guard let head, let requestedAt else { throw ExchangeFailure(.unreachable(.malformed)) }
        let status = Int(head.status.code)
        var fields = HTTPFields(received: head.headers)
        if case .content(_, let codings) = action, !codings.isEmpty {
            // They describe the bytes before decoding.
            fields[.contentEncoding] = nil
            fields[.contentLength] = nil
        }
        var unusable: UnusableResponse {
            UnusableResponse(status: status, headers: fields, requestedAt: requestedAt, receivedAt: receivedAt)
        }
        switch action {
        case .missing: throw ExchangeFailure(.notFound(unusable))
        case .unexpectedStatus:
            throw ExchangeFailure(.unexpectedStatus(unusable), recovery: status == 408 ? .retry : .none)
        case .content where !isDecoded && body.count > 0: throw ExchangeFailure(.unreachable(.incomplete))
        case .content where body.count == 0: throw ExchangeFailure(.emptyBody)
        case .content, .notModified, .redirect, .fail, nil: break
        }
        // A part that is the whole is all that was requested.
        let answered = status == 206 ? .ok : HTTPResponse.Status(code: status)
        return OriginResponse(
            url: url, status: answered, headers: fields, content: body.finish(),
            requestedAt: requestedAt, receivedAt: receivedAt, sentFields: sentFields)
    }
}

/// The action for a response, decided by its head alone.
enum ResponseAction: Equatable {
    /// Read the body and decode its codings. `sizeHint` is the announced length or 0, fit for reserving memory only.
    case content(sizeHint: Int, codings: [ContentCoding])
    /// Use the known original (304).
    case notModified
    case redirect(location: String?)
    /// Report that the resource does not exist (404, 410).
    case missing
    /// Report a status that no original has.
    case unexpectedStatus
    case fail(OriginError)

    /// The largest head in bytes, field names and values together.
    static let maxHeadBytes = 64 << 10

    /// - Parameter isConditional: whether the request had validators. A 304 is unexpected without them.
    init(_ head: HTTPResponseHead, maxSourceBytes: Int, isConditional: Bool) {
        guard head.headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.maxHeadBytes else {
            self = .fail(.unreachable(.malformed))
            return
        }
        switch head.status.code {
        // Some servers answer so without being asked for a range.
        case 206 where !head.headers.lacksBytes: self.init(success: head.headers, maxSourceBytes: maxSourceBytes)
        // No content (204, 205), and partial content (206).
        case 204...206: self = .unexpectedStatus
        // An unknown success is treated as 200 (RFC 9110 §15).
        case 200...299: self.init(success: head.headers, maxSourceBytes: maxSourceBytes)
        case 304 where isConditional: self = .notModified
        case 301, 302, 303, 307, 308:
            let locations = head.headers["location"]
            let isOne = locations.allSatisfy { $0 == locations.first }
            self = isOne ? .redirect(location: locations.first) : .fail(.badRedirect(.invalidLocation))
        case 404, 410: self = .missing
        case 508: self = .fail(.loop)
        default: self = .unexpectedStatus
        }
    }

    private init(success headers: HTTPHeaders, maxSourceBytes: Int) {
        let codings = ContentCoding.list(headers["content-encoding"])
        let length = headers.first(name: "content-length").flatMap(Int.init(digits:)) ?? 0
        self =
            if length > maxSourceBytes {
                .fail(.tooLarge(limitBytes: maxSourceBytes))
            } else if let codings {
                .content(sizeHint: codings.isEmpty ? length : 0, codings: codings)
            } else {
                .fail(.unacceptableEncoding)
            }
    }
}

extension HTTPHeaders {
    /// Whether the `Content-Range` of a 206, such as `bytes 0-9/20`, excludes bytes of the image. As in browsers, a
    /// malformed field is ignored.
    fileprivate var lacksBytes: Bool {
        self["content-range"].contains { range in
            guard let range = range.wholeMatch(of: /bytes ([0-9]+)-([0-9]+)\/(?:([0-9]+)|\*)/) else { return false }
            let size = range.3.map { Int($0) } ?? nil
            return Int(range.1) != 0 || size.map { Int(range.2) != $0 - 1 } ?? (range.3 != nil)
        }
    }
}
