import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// Takes in one response on the event loop: judges its head, counts its body while it arrives, and breaks off as soon as
/// nothing more is wanted. Breaking off closes the connection, which costs less than trusting a hostile one to end.
final class ResponseCollector: HTTPClientResponseDelegate {
    /// How far an exchange came.
    struct Progress {
        var requestedAt: Date?
        var head: HTTPResponseHead?
        var receivedAt = Date.distantPast
        var evaluation: Judgement?
        var body = ByteBuffer()
        /// How large it may become without asking for more room.
        var roomBytes = 0

        /// What has come in so far, with its announced length.
        var partial: PartialOriginal? {
            guard case .content(let sizeHint) = evaluation else { return nil }
            return PartialOriginal(body: body, expectedBytes: sizeHint > 0 ? sizeHint : nil)
        }
    }

    private struct BrokenOff: Error {}

    /// What is reserved at most for an announced body before any of it has come.
    private static let maxReservedBytes = 4 << 20

    /// By how much a body of unknown length is let grow at a time.
    private static let stepBytes = 256 << 10

    private let state = Mutex(Progress())
    private let maxSourceBytes: Int
    private let isConditional: Bool
    /// Let go with the result: whoever keeps this longer keeps no bytes.
    private let hold: Mutex<ByteReservation?>
    private let phases: DownloadProgress
    private let onProgress: @Sendable (PartialOriginal) -> Void

    init(
        maxSourceBytes: Int, isConditional: Bool, hold: ByteReservation, phases: DownloadProgress,
        onProgress: @escaping @Sendable (PartialOriginal) -> Void
    ) {
        self.maxSourceBytes = min(maxSourceBytes, Int(UInt32.max))
        self.isConditional = isConditional
        self.hold = Mutex(hold)
        self.phases = phases
        self.onProgress = onProgress
    }

    /// Takes the result out; to be called once, after the exchange.
    func finish() -> Progress {
        let progress = state.withLock { state in
            defer { state.body = ByteBuffer() }
            return state
        }
        hold.withLock { $0.take() }?.settle(bytes: progress.body.readableBytes)
        return progress
    }

    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) {
        state.withLock { $0.requestedAt = Date() }
        phases.enter(.response)
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let evaluation = ResponseAction(head, maxSourceBytes: maxSourceBytes, isConditional: isConditional)
        phases.enter(.body)
        state.withLock {
            $0.head = head
            $0.receivedAt = Date()
            $0.evaluation = evaluation
            if case .content(let sizeHint) = evaluation {
                $0.body.reserveCapacity(min(sizeHint, Self.maxReservedBytes))
            }
        }
        switch evaluation {
        // Until there is room for what is announced, nothing is read.
        case .content(let sizeHint) where sizeHint > 0: return makeRoom(for: sizeHint, task)
        // "Not modified" has no body, so its connection is as good as new.
        case .content, .notModified: return task.eventLoop.makeSucceededVoidFuture()
        case .redirect, .missing, .unwanted, .refused: return task.eventLoop.makeFailedFuture(BrokenOff())
        }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let partial = state.withLock { state -> PartialOriginal? in
            guard state.body.readableBytes + buffer.readableBytes <= maxSourceBytes else {
                state.evaluation = .refused(.tooLarge(limitBytes: maxSourceBytes))
                return nil
            }
            state.body.writeImmutableBuffer(buffer)
            return state.partial
        }
        guard let partial else { return task.eventLoop.makeFailedFuture(BrokenOff()) }
        // Outside of the lock. The share of the body ends with this call, so the next piece is added to it in place.
        onProgress(partial)
        return makeRoom(for: partial.body.readableBytes, task)
    }

    /// A pause in reading until there is room for so many bytes and, where nothing was announced, for some that may follow.
    private func makeRoom(for bytes: Int, _ task: HTTPClient.Task<Void>) -> EventLoopFuture<Void> {
        let roomBytes = state.withLock { state -> Int? in
            guard bytes > state.roomBytes else { return nil }
            let isAnnounced = state.roomBytes == 0 && state.body.readableBytes == 0
            state.roomBytes = min(isAnnounced ? bytes : bytes + Self.stepBytes, maxSourceBytes)
            return state.roomBytes
        }
        guard let roomBytes, let hold = hold.withLock(\.self) else { return task.eventLoop.makeSucceededVoidFuture() }
        // Should time be up before there is room, it was no fault of the host's.
        phases.enter(.waiting)
        return hold.require(roomBytes, on: task.eventLoop).always { [phases] _ in phases.enter(.body) }
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}
}
