import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// HTTP/1.1 connections whose requests are cancelled once the client is gone.
///
/// The server otherwise leaves a handler running when its client disconnects, and its own remedy, reading on behind the
/// request, costs every connection its keep-alive. Here a channel handler sees the client's end of stream, and the one
/// task that serves the connection is cancelled: nothing is spent per request. A client that closes only its sending
/// side is gone too, and so is one that still takes its answer a while after the server was told to end.
struct DisconnectAwareChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let connection: HTTP1Channel.Value
        /// Succeeds once nothing more can come from the client.
        let clientIsGone: EventLoopFuture<Void>

        var channel: any Channel { connection.channel }
    }

    let http: HTTP1Channel
    /// How long answers may still be taken once the server ends.
    let lastGrace: TimeAmount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let gone = channel.eventLoop.makePromise(of: Void.self)
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(EndOfStreamHandler(gone, lastGrace: lastGrace))
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

/// Keeps a promise when the client has closed its side, the whole connection is closed, or the server's end is a while past.
private final class EndOfStreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var promise: EventLoopPromise<Void>?
    private let lastGrace: TimeAmount

    init(_ promise: EventLoopPromise<Void>, lastGrace: TimeAmount) {
        self.promise = promise
        self.lastGrace = lastGrace
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { keepPromise() }
        if event is ChannelShouldQuiesceEvent, let promise {
            // Who takes nothing of an answer must not keep the server from ending. A promise is kept once, whoever comes first.
            context.eventLoop.scheduleTask(in: lastGrace) { promise.succeed() }
        }
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
