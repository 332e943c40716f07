package import HTTPTypes
package import Hummingbird

/// A path, the methods that it supports, and their handler.
package struct Route: Sendable {
    /// A segment in braces matches any one segment, which the context's parameters then hold under that name.
    package let path: String
    package let methods: [HTTPRequest.Method]
    package let respond: @Sendable (Request, ServerRequestContext) async throws(Problem) -> Response

    package init(
        _ path: String, _ methods: [HTTPRequest.Method] = [.get, .head],
        respond: @escaping @Sendable (Request, ServerRequestContext) async throws(Problem) -> Response
    ) {
        self.path = path
        self.methods = methods
        self.respond = respond
    }
}

/// The methods of each path, to distinguish a wrong method from a wrong path.
package struct RouteTable: Sendable {
    private let methods: [String: [HTTPRequest.Method]]
    /// The paths with braces, split into segments.
    private let patterns: [(path: String, segments: [Substring])]

    package init(_ routes: [Route]) {
        self.init(methods: Dictionary(routes.map { ($0.path, $0.methods) }) { $0 + $1 })
    }

    /// A table of paths alone.
    package init(paths: [String]) {
        self.init(methods: Dictionary(paths.map { ($0, []) }) { $0 + $1 })
    }

    private init(methods: [String: [HTTPRequest.Method]]) {
        self.methods = methods
        patterns = methods.keys.filter { $0.contains("{") }.map { ($0, Self.segments(of: $0)) }
    }

    /// The path, as its route spells it, that matches a request's path.
    package func route(of path: String) -> String? {
        if methods[path] != nil { return path }
        let segments = Self.segments(of: path)
        return patterns.first { pattern in
            pattern.segments.count == segments.count
                && zip(pattern.segments, segments).allSatisfy { $0 == $1 || $0.hasPrefix("{") && !$1.isEmpty }
        }?.path
    }

    /// The methods that a route supports.
    func methods(of route: String) -> [HTTPRequest.Method] { methods[route] ?? [] }

    private static func segments(of path: some StringProtocol) -> [Substring] {
        Substring(path).split(separator: "/", omittingEmptySubsequences: false)
    }
}
