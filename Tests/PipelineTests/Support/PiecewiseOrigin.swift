import DarkroomOrigin
import HTTPTypes
import NIOCore
import Synchronization

/// An origin that sends its image in pieces, when the test says so.
final class PiecewiseOrigin: OriginFetching {
    private enum Order {
        case send(upTo: Int)
        case end
        case fail(OriginError)
    }

    let fetches = Counter()
    let cancelled = Counter()
    /// The number of pieces reported to requests.
    let sent = Counter()
    private let body: ByteBuffer
    private let announcesLength: Bool
    private let orders: AsyncStream<Order>
    private let order: AsyncStream<Order>.Continuation

    init(_ body: ByteBuffer, announcesLength: Bool = true) {
        self.body = body
        self.announcesLength = announcesLength
        (orders, order) = AsyncStream.makeStream()
    }

    var count: Int { body.readableBytes }

    /// Sends a piece, and returns once it has been reported.
    func send(upTo bytes: Int) async {
        let before = sent.value
        order.yield(.send(upTo: bytes))
        await sent.reaches(before + 1)
    }

    func finish() { order.yield(.end) }

    func fail(_ error: OriginError) { order.yield(.fail(error)) }

    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        fetches.add()
        for await order in orders {
            switch order {
            case .send(let bytes):
                request.onProgress(
                    PartialOriginal(receivedBytes: min(bytes, count), expectedBytes: announcesLength ? count : nil))
                sent.add()
            case .end:
                return OriginResponse(
                    url: request.url, status: .ok, headers: [.cacheControl: "max-age=60"], body: body,
                    requestedAt: WallClock.start, receivedAt: WallClock.start)
            case .fail(let error):
                throw error
            }
        }
        cancelled.add()
        throw .cancelled
    }
}
