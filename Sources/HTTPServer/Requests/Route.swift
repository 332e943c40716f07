package import HTTPTypes
package import Hummingbird

/// A path, the methods that it supports, and their handler.
package struct Route: Sendable {
    /// A segment in braces matches any one segment, which the context's parameters then hold under that name. A last
    /// segment `**` matches one or more segments.
    package let path: String
    package let methods: [HTTPRequest.Method]
    /// Whether the handler runs on the event loop of the connection. Its steps between two waits must be short then.
    package let runsOnEventLoop: Bool
    /// Whether pages of other sites may embed what is at the path. Its problems and redirects may then be embedded too.
    package let isEmbeddable: Bool
    package let respond: @Sendable (Request, ServerRequestContext) async throws(Problem) -> Response

    /// - Parameter runsOnEventLoop: false = the handler runs on Swift's pool of threads.
    package init(
        _ path: String, _ methods: [HTTPRequest.Method] = [.get, .head], runsOnEventLoop: Bool = false,
        isEmbeddable: Bool = false,
        respond: @escaping @Sendable (Request, ServerRequestContext) async throws(Problem) -> Response
    ) {
        self.path = path
        self.methods = methods
        self.runsOnEventLoop = runsOnEventLoop
        self.isEmbeddable = isEmbeddable
        self.respond = respond
    }

    /// The response of the handler, which runs where the route says.
    func response(to request: Request, _ context: ServerRequestContext) async throws(Problem) -> Response {
        if runsOnEventLoop { return try await respond(request, context) }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) { () async throws(Problem) in
            try await respond(request, context)
        }
    }
}

/// The methods of each path, to distinguish a wrong method from a wrong path.
///
/// As in the router, empty segments do not count: `//image/` has the route of `/image`.
package struct RouteTable: Sendable {
    private let methods: [String: [HTTPRequest.Method]]
    private let embeddable: Set<String>
    /// The paths that do not end in `**`, split into segments. As in the router, those without braces come first.
    private let patterns: [(path: String, segments: [Substring])]
    /// The paths that end in `**`, split into the segments before it.
    private let prefixes: [(path: String, segments: [Substring])]
    /// The first segments of the paths that do not begin with braces. If one of them matches, the router looks no
    /// further.
    private let beginnings: Set<Substring>

    package init(_ routes: [Route]) {
        self.init(
            methods: Dictionary(routes.map { ($0.path, $0.methods) }) { $0 + $1 },
            embeddable: Set(routes.filter(\.isEmbeddable).map(\.path)))
    }

    /// A table of paths alone.
    package init(paths: [String]) {
        self.init(methods: Dictionary(paths.map { ($0, []) }) { $0 + $1 }, embeddable: [])
    }

    private init(methods: [String: [HTTPRequest.Method]], embeddable: Set<String>) {
        self.methods = methods
        self.embeddable = embeddable
        let all = methods.keys.map { (path: $0, segments: Self.segments(of: $0)) }
        let whole = all.filter { !$0.path.hasSuffix(Self.rest) }
        patterns = whole.filter { !$0.path.contains("{") } + whole.filter { $0.path.contains("{") }
        prefixes = all.filter { $0.path.hasSuffix(Self.rest) }.map { ($0.path, Array($0.segments.dropLast())) }
        beginnings = Set(all.compactMap { $0.segments.first }.filter { !$0.hasPrefix("{") })
    }

    /// The path, as its route spells it, that matches a request's path.
    package func route(of path: String) -> String? {
        if methods[path] != nil { return path }
        let segments = Self.segments(of: path)
        let pattern = patterns.first { $0.segments.count == segments.count && Self.matches($0.segments, segments) }
        return pattern?.path ?? longerRoute(of: segments)
    }

    /// The route with `**` that matches a request's path.
    private func longerRoute(of segments: [Substring]) -> String? {
        guard let first = segments.first else { return nil }
        return prefixes.first { prefix in
            let isNamed = prefix.segments.first.map { !$0.hasPrefix("{") } ?? false
            return segments.count > prefix.segments.count && (isNamed || !beginnings.contains(first))
                && Self.matches(prefix.segments, segments)
        }?.path
    }

    private static func matches(_ pattern: [Substring], _ segments: [Substring]) -> Bool {
        zip(pattern, segments).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }

    /// How the log writes a path. What `**` matches may contain secrets, such as the URL of a source.
    static func logged(_ path: String, of route: String?) -> String {
        guard let route, route.hasSuffix(rest) else { return path }
        let kept = route.split(separator: "/").prefix { !$0.hasPrefix("{") && $0 != "**" }
        return "/" + kept.map { $0 + "/" }.joined() + "…"
    }

    private static let rest = "/**"

    /// Whether pages of other sites may embed the problems and redirects at a route.
    ///
    /// A request without a route, such as one with a misspelled path or malformed bytes, counts as a request for an
    /// image wherever there are embeddable routes: its problem depends on nothing private.
    func isEmbeddable(_ route: String?) -> Bool { route.map(embeddable.contains) ?? !embeddable.isEmpty }

    /// The methods that a route supports.
    func methods(of route: String) -> [HTTPRequest.Method] { methods[route] ?? [] }

    private static func segments(of path: String) -> [Substring] { path.split(separator: "/") }
}
