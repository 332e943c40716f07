import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// HTTP/1.1 connections whose requests are cancelled once the client is gone.
///
/// The server otherwise leaves a handler running when its client disconnects, and its own remedy, reading on behind the
/// request, costs every connection its keep-alive. Here a channel handler sees the client's end of stream, and the one
/// task that serves the connection is cancelled: nothing is spent per request. A client that closes only its sending
/// side is gone too.
struct DisconnectAwareChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let connection: HTTP1Channel.Value
        /// Succeeds once nothing more can come from the client.
        let clientIsGone: EventLoopFuture<Void>

        var channel: any Channel { connection.channel }
    }

    let http: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let gone = channel.eventLoop.makePromise(of: Void.self)
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(EndOfStreamHandler(gone))
        }.flatMapErrorThrowing { error in
            gone.fail(error)
            throw error
        }.flatMap {
            http.setup(channel: channel, logger: logger)
        }.map { connection in
            Value(connection: connection, clientIsGone: gone.futureResult)
        }
    }

    func handle(value: Value, logger: Logger) async {
        let serving = Task { await http.handle(value: value.connection, logger: logger) }
        value.clientIsGone.whenComplete { _ in serving.cancel() }
        await withTaskCancellationHandler {
            await serving.value
        } onCancel: {
            serving.cancel()
        }
    }
}

/// Keeps a promise when the client has closed its side, or the whole connection is closed.
private final class EndOfStreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var promise: EventLoopPromise<Void>?

    init(_ promise: EventLoopPromise<Void>) {
        self.promise = promise
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { keepPromise() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        keepPromise()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        keepPromise()
    }

    private func keepPromise() {
        promise?.succeed()
        promise = nil
    }
}
