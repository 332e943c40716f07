import HTTPTypes
import Hummingbird

/// The origins whose scripts may read responses (CORS, Fetch Standard §3.3).
package enum CORSPolicy: Hashable, Sendable {
    case none
    case all
    /// Origins as browsers serialize them: scheme, host and non-default port, without a path.
    case listed(Set<String>)

    package var dependsOnOrigin: Bool {
        if case .listed = self { true } else { false }
    }

    /// Routes that answer preflight requests (Fetch Standard §4.8): they allow the methods of the routes, without
    /// credentials.
    package func preflightRoutes(for routes: [Route]) -> [Route] {
        guard self != .none else { return [] }
        let methods = Dictionary(routes.map { ($0.path, $0.methods) }) { $0 + $1 }
        return methods.map { path, methods in
            var route = Route(path, [.options]) { _, _ in
                Response(
                    status: .noContent,
                    headers: [
                        .accessControlAllowMethods: methods.map(\.rawValue).joined(separator: ", "),
                        .accessControlMaxAge: "86400",
                        .accessControlAllowHeaders:
                            // A quoted profile, as IIIF viewers send it, makes `Accept` a field that must be allowed.
                            "Accept, Cache-Control, Content-Type, If-Modified-Since, If-None-Match, Priority, "
                            + "Traceparent, Tracestate, X-Request-Id",
                    ])
            }
            route.origins = self
            return route
        }
    }

    /// Adds the fields of a shared response to a request with that `Origin`.
    func apply(to fields: inout HTTPFields, origin: String?) {
        if let allowed = allowedOrigin(origin) {
            fields[.accessControlAllowOrigin] = allowed
            fields[.accessControlExposeHeaders] = Self.exposedFields
        }
        // Requests of an <img> have no `Origin`, so that the list is stated whole.
        fields[.timingAllowOrigin] = timingOrigins
        // The response depends on the origin, so caches need `Vary`.
        if dependsOnOrigin { fields[.vary] = fields[.vary].map { "\($0), Origin" } ?? "Origin" }
    }

    /// The origins whose pages may read how long the response took, and `Server-Timing` (W3C Resource Timing §4.5.1).
    private var timingOrigins: String? {
        switch self {
        case .none: nil
        case .all: "*"
        case .listed(let list): list.sorted().joined(separator: ", ")
        }
    }

    private func allowedOrigin(_ origin: String?) -> String? {
        switch self {
        case .none: nil
        case .all: "*"
        case .listed(let list): origin.flatMap { list.contains($0) ? $0 : nil }
        }
    }

    /// The fields that scripts may read in addition to the CORS-safelisted fields.
    private static let exposedFields = [
        "Age", "Cache-Status", "Content-Disposition", "ETag", "Link", "Proxy-Status", "Retry-After", "Server-Timing",
        "X-Damaged", "X-Faces", "X-Placeholder-BlurHash", "X-Placeholder-Color", "X-Placeholder-Lqip",
        "X-Placeholder-ThumbHash", "X-Quality", "X-Request-Id", "X-Undrawn",
    ].joined(separator: ", ")
}
