import NIOCore
import NIOHTTP1

/// The channel handler after ``RequestLimitsHandler`` that removes the base path from targets, so that later handlers
/// see only the paths of their own routes.
///
/// Targets without the base path pass unchanged: probes and scrapers reach the server without the proxy that adds it.
final class BasePathHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let basePath: String

    /// - Parameter basePath: begins with a slash and does not end with one.
    init(_ basePath: String) {
        self.basePath = basePath
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), let target = Self.target(head.uri, below: basePath) else {
            return context.fireChannelRead(data)
        }
        head.uri = target
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// The target without the base path; nil if the target does not begin with the base path.
    static func target(_ target: String, below basePath: String) -> String? {
        guard target.utf8.starts(with: basePath.utf8) else { return nil }
        let rest = target.utf8.dropFirst(basePath.utf8.count)
        switch rest.first {
        case nil: return "/"
        case UInt8(ascii: "/"): return String(Substring(rest))
        case UInt8(ascii: "?"): return "/" + Substring(rest)
        default: return nil
        }
    }
}
