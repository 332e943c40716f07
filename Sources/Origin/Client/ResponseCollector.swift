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
        var judgement: Judgement?
        var body = ByteBuffer()
    }

    private struct BrokenOff: Error {}

    /// What is reserved at most for an announced body before any of it has come.
    private static let maxReservedBytes = 4 << 20

    private let state = Mutex(Progress())
    private let maxSourceBytes: Int

    init(maxSourceBytes: Int) {
        self.maxSourceBytes = min(maxSourceBytes, Int(UInt32.max))
    }

    /// Takes the result out; to be called once, after the exchange.
    func finish() -> Progress {
        state.withLock { state in
            defer { state.body = ByteBuffer() }
            return state
        }
    }

    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) {
        state.withLock { $0.requestedAt = Date() }
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let judgement = Judgement(head, maxSourceBytes: maxSourceBytes)
        state.withLock {
            $0.head = head
            $0.receivedAt = Date()
            $0.judgement = judgement
        }
        guard case .content(let sizeHint) = judgement else { return task.eventLoop.makeFailedFuture(BrokenOff()) }
        state.withLock { $0.body.reserveCapacity(min(sizeHint, Self.maxReservedBytes)) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let fits = state.withLock { state in
            guard state.body.readableBytes + buffer.readableBytes <= maxSourceBytes else {
                state.judgement = .refused(.tooLarge(limitBytes: maxSourceBytes))
                return false
            }
            state.body.writeImmutableBuffer(buffer)
            return true
        }
        return fits ? task.eventLoop.makeSucceededVoidFuture() : task.eventLoop.makeFailedFuture(BrokenOff())
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}
}
