import NIOCore
import NIOHTTP1

/// A channel handler after ``RequestLimitsHandler`` that rewrites the targets of requests, before any later handler
/// sees them.
final class TargetHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let rewrite: (String) -> String?

    /// - Parameter rewrite: returns another target, or nil to leave it as it is.
    init(_ rewrite: @escaping (String) -> String?) {
        self.rewrite = rewrite
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), let target = rewrite(head.uri) else {
            return context.fireChannelRead(data)
        }
        head.uri = target
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}

/// The path that a reverse proxy puts in front of all paths. It is removed, so that routes have only their own paths.
///
/// Targets without the base path pass unchanged: probes and scrapers reach the server without the proxy that adds it.
enum BasePath {
    /// The target without the base path, which begins with a slash and does not end with one; nil if the target does
    /// not begin with it.
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

/// The names of parameters that are removed from every target, such as the parameters that mail and social tools append
/// to links of others: neither a signature nor a cache key covers them.
package struct IgnoredParameters: Hashable, Sendable {
    private var names: Set<Substring> = []
    private var prefixes: [Substring] = []

    /// - Parameter patterns: names, or beginnings of names with `*` at the end.
    package init(_ patterns: [String] = []) {
        for pattern in patterns {
            if pattern.hasSuffix("*") { prefixes.append(pattern.dropLast()) } else { names.insert(pattern[...]) }
        }
    }

    package var isEmpty: Bool { names.isEmpty && prefixes.isEmpty }

    package func contains(_ name: Substring) -> Bool {
        names.contains(name) || prefixes.contains { name.hasPrefix($0) }
    }

    /// The target without these parameters; nil if it has none of them.
    func removed(from target: String) -> String? {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let pairs = target[mark...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
        let kept = pairs.filter { pair in !contains(pair.prefix { $0 != "=" }) }
        guard kept.count < pairs.count else { return nil }
        return "\(target[..<mark])\(kept.isEmpty ? "" : "?")\(kept.joined(separator: "&"))"
    }
}
