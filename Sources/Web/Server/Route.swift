import HTTPTypes
import Hummingbird

/// A path, the methods it takes, and who answers.
struct Route: Sendable {
    /// A part of it in braces stands for any one part, which the context's parameters then hold under that name.
    let path: String
    let methods: [HTTPRequest.Method]
    let respond: @Sendable (Request, ServerRequestContext) async throws(Problem) -> Response

    init(
        _ path: String, _ methods: [HTTPRequest.Method] = [.get, .head],
        respond: @escaping @Sendable (Request, ServerRequestContext) async throws(Problem) -> Response
    ) {
        self.path = path
        self.methods = methods
        self.respond = respond
    }
}

/// Which methods each path takes, to tell a wrong method from a wrong path.
struct RouteTable: Sendable {
    private let methods: [String: [HTTPRequest.Method]]
    /// The paths with braces, in parts.
    private let patterns: [(path: String, parts: [Substring])]

    init(_ routes: [Route]) {
        methods = Dictionary(routes.map { ($0.path, $0.methods) }) { $0 + $1 }
        patterns = methods.keys.filter { $0.contains("{") }.map { ($0, Self.parts(of: $0)) }
    }

    /// The path, as its route spells it, that a request's path leads to.
    func route(of path: String) -> String? {
        if methods[path] != nil { return path }
        let parts = Self.parts(of: path)
        return patterns.first { pattern in
            pattern.parts.count == parts.count
                && zip(pattern.parts, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") && !$1.isEmpty }
        }?.path
    }

    /// The methods that a route takes.
    func methods(of route: String) -> [HTTPRequest.Method] { methods[route] ?? [] }

    private static func parts(of path: some StringProtocol) -> [Substring] {
        Substring(path).split(separator: "/", omittingEmptySubsequences: false)
    }
}
