package import HTTPTypes
package import Hummingbird
package import NIOCore

/// The answer to a request: now, or later.
package enum Answer: Sendable {
    case now(Reply)
    /// The response has to be waited for. Before that, the request may have been handed to another thread.
    case later(@Sendable (Request, ServerRequestContext) async throws(Problem) -> Response)
}

/// An image or a problem as an answer, complete but for what differs for each request: its id, the date, and its time.
package struct Reply: Sendable {
    package let status: Int
    /// The status line and the finished fields, without the empty line at the end.
    package let head: ByteBuffer
    /// Empty if the status allows none. It is not sent in response to HEAD.
    package var body: ByteBuffer
    /// The value of `Cache-Status`, which the head has too; nil without one.
    package let cacheStatus: String?
    let problem: ProblemKind?
    /// For the access log.
    package let details: AccessLogDetails

    package init(
        status: Int, head: ByteBuffer, body: ByteBuffer = ByteBuffer(), cacheStatus: String?, details: AccessLogDetails
    ) {
        self.status = status
        self.head = head
        self.body = body
        self.cacheStatus = cacheStatus
        problem = nil
        self.details = details
    }

    init(_ problem: Problem, head: ByteBuffer, body: ByteBuffer, cacheStatus: String?) {
        status = problem.kind.status.code
        self.head = head
        self.body = body
        self.cacheStatus = cacheStatus
        self.problem = problem.kind
        details = problem.logged
    }
}

/// A path, the methods that it supports, and how it answers.
package struct Route: Sendable {
    /// A segment in braces matches any one segment, which the context's parameters then hold under that name. A last
    /// segment `**` matches one or more segments.
    package let path: String
    package let methods: [HTTPRequest.Method]
    /// Whether pages of other sites may embed what is at the path. Its problems and redirects may then be embedded too.
    package let isEmbeddable: Bool
    /// The sites whose scripts may read the responses.
    package var origins = CORSPolicy.none
    /// Whether the route is meant for a request with this path. Other routes of the path may be.
    package var accepts: @Sendable (RequestHead) -> Bool = { _ in true }
    /// Runs on the event loop of the connection, so it must not block.
    package let answer: @Sendable (RequestHead) throws(Problem) -> Answer

    package init(
        _ path: String, _ methods: [HTTPRequest.Method] = [.get, .head], isEmbeddable: Bool = false,
        answer: @escaping @Sendable (RequestHead) throws(Problem) -> Answer
    ) {
        self.path = path
        self.methods = methods
        self.isEmbeddable = isEmbeddable
        self.answer = answer
    }

    /// A route whose responses have to be waited for. They are made on Swift's pool of threads.
    package init(
        _ path: String, _ methods: [HTTPRequest.Method] = [.get, .head],
        respond: @escaping @Sendable (Request, ServerRequestContext) async throws(Problem) -> Response
    ) {
        self.init(path, methods) { _ in .onPool(respond) }
    }
}

extension Answer {
    /// A response that is made on Swift's pool of threads, because some of its steps between two waits are long.
    package static func onPool(
        _ respond: @escaping @Sendable (Request, ServerRequestContext) async throws(Problem) -> Response
    ) -> Answer {
        .later { request, context async throws(Problem) in
            try await withTaskExecutorPreference(globalConcurrentExecutor) { () async throws(Problem) in
                try await respond(request, context)
            }
        }
    }
}

/// The routes of one path.
package final class RoutePlace: Sendable {
    /// As the routes spell it.
    package let path: String
    fileprivate let segments: [PathSegment]
    fileprivate let routes: [Route]
    /// Whether the path ends in `**`.
    fileprivate let isPrefix: Bool
    let isEmbeddable: Bool
    let metrics: RouteMetrics?

    fileprivate init(_ path: String, _ routes: [Route], _ metrics: RouteMetrics?) {
        self.path = path
        segments = path.split(separator: "/").map(PathSegment.init)
        self.routes = routes
        isPrefix = path.hasSuffix("/**")
        isEmbeddable = routes.contains(where: \.isEmbeddable)
        self.metrics = metrics
    }

    /// Each supported method once.
    var methods: [HTTPRequest.Method] {
        routes.flatMap(\.methods).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The sites whose scripts may read what a request gets here, whatever its method.
    func origins(for head: RequestHead) -> CORSPolicy { routes.first { $0.accepts(head) }?.origins ?? .none }

    func route(for head: RequestHead) throws(Problem) -> Route {
        for route in routes where route.methods.contains(head.method) && route.accepts(head) { return route }
        throw .methodNotAllowed(head.method, allow: methods)
    }

    /// The segment of a path that the path of the routes names; nil if there is none of that name.
    func parameter(_ name: String, of path: String) -> String? {
        zip(segments, path.pathSegments).first { $0.0.name == name }.flatMap { String($0.1) }
    }

    /// How the log writes a path at this place. What `**` matches may contain secrets, such as the URL of a source.
    func logged(_ path: String) -> String {
        guard isPrefix else { return path }
        return "/" + segments.prefix { $0.name == nil && $0.text != "**" }.map { $0.text + "/" }.joined() + "…"
    }

    /// Whether the path begins with braces.
    fileprivate var isOpen: Bool { segments.first?.name != nil }

    /// Whether a path has these segments, or more if the place is a prefix.
    fileprivate func matches(_ path: String) -> Bool {
        var given = path.pathSegments
        for segment in isPrefix ? segments.dropLast() : segments[...] {
            guard let next = given.next(), segment.matches(next) else { return false }
        }
        return (given.next() != nil) == isPrefix
    }
}

private struct PathSegment: Sendable {
    let text: String
    /// The name of a segment in braces.
    let name: String?

    init(_ text: Substring) {
        self.text = String(text)
        name = text.hasPrefix("{") ? String(text.dropFirst().dropLast()) : nil
    }

    func matches(_ segment: Substring.UTF8View) -> Bool { name != nil || segment.elementsEqual(text.utf8) }
}

extension String {
    fileprivate var pathSegments: PathSegments { PathSegments(rest: utf8[...]) }
}

/// The segments of a path, without the empty ones. Nothing is copied, because each hit asks for its route.
private struct PathSegments: Sequence, IteratorProtocol {
    fileprivate var rest: Substring.UTF8View

    mutating func next() -> Substring.UTF8View? {
        let start = rest.drop { $0 == UInt8(ascii: "/") }
        let segment = start.prefix { $0 != UInt8(ascii: "/") }
        rest = start[segment.endIndex...]
        return segment.isEmpty ? nil : segment
    }
}

/// The routes of a listener: the only router.
///
/// Empty segments do not count: `//image/` has the route of `/image`.
package struct RouteTable: Sendable {
    private let places: [String: RoutePlace]
    /// The places with a fixed number of segments, first the ones without braces.
    private let patterns: [RoutePlace]
    /// The places whose paths end in `**`.
    private let prefixes: [RoutePlace]
    /// The first segments of the paths that do not begin with braces. If one of them matches, no path that begins with
    /// braces does.
    private let beginnings: [PathSegment]

    /// - Parameter metrics: has the metrics of each path; nil = nothing is recorded.
    package init(_ routes: [Route], _ metrics: RequestMetrics? = nil) {
        var paths: [String] = []
        for route in routes where !paths.contains(route.path) { paths.append(route.path) }
        let all = paths.map { path in
            RoutePlace(path, routes.filter { $0.path == path }, metrics?.of(route: path))
        }
        places = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) })
        let whole = all.filter { !$0.isPrefix }
        patterns = whole.filter { !$0.path.contains("{") } + whole.filter { $0.path.contains("{") }
        prefixes = all.filter(\.isPrefix)
        beginnings = all.compactMap(\.segments.first).filter { $0.name == nil }
    }

    /// The place that matches a request's path.
    package func place(of path: String) -> RoutePlace? {
        if let place = places[path] { return place }
        var segments = path.pathSegments
        guard let first = segments.next() else { return places["/"] }
        let isTaken = beginnings.contains { $0.matches(first) }
        func matches(_ place: RoutePlace) -> Bool { place.isOpen != isTaken && place.matches(path) }
        return patterns.first(where: matches) ?? prefixes.first(where: matches)
    }

    /// Whether pages of other sites may embed the problems and redirects at a place.
    ///
    /// A request without a place, such as one with a misspelled path or malformed bytes, counts as a request for an
    /// image wherever there are embeddable routes: its problem depends on nothing private.
    func isEmbeddable(_ place: RoutePlace?) -> Bool {
        place?.isEmbeddable ?? places.values.contains(where: \.isEmbeddable)
    }
}
