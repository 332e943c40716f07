import Foundation
import Logging
import NIOCore

/// Keeps a listener alive while the system cannot accept a connection, for example because too many files are open.
///
/// The connection stays in the kernel's queue, so the next attempt waits a moment. Other errors end the listener.
final class AcceptFailureHandler: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    private static let pause = TimeAmount.milliseconds(100)
    private static let passing = [EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED]

    private let logger: Logger
    private var isPaused = false
    /// Whether failures since the last connection have been logged.
    private var isReported = false

    init(logger: Logger) {
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReported = false
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError, Self.passing.contains(failure.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        if !isReported { logger.warning("a connection could not be accepted", metadata: ["reason": "\(failure)"]) }
        isReported = true
        guard !isPaused else { return }
        isPaused = true
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
            isPaused = false
            context.read()
        }
    }

    func read(context: ChannelHandlerContext) {
        if !isPaused { context.read() }
    }
}
