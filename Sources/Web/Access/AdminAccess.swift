import HTTPTypes
import HummingbirdCore

/// Who may use the routes of administration.
enum AdminAccess: Sendable {
    case nobody
    /// Who carries the token.
    case bearer(AdminToken)
    /// Who can reach the port.
    case anybody

    /// Whoever has the token, where one is set; without one those who reach a port that there is for this alone.
    init(_ configuration: WebConfiguration, at door: Listener) {
        if let token = configuration.adminToken {
            self = .bearer(AdminToken(token))
        } else {
            self = door == .admin ? .anybody : .nobody
        }
    }

    /// The route, for those alone who may use it.
    func guarding(_ route: Route) -> Route {
        Route(route.path, route.methods) { request, context throws(Problem) in
            try require(in: request.headers)
            return try await route.respond(request, context)
        }
    }

    private func require(in fields: HTTPFields) throws(Problem) {
        switch self {
        case .nobody: throw .adminDisabled
        case .bearer(let token): guard token.isPresent(in: fields) else { throw .adminTokenWrong }
        case .anybody: break
        }
    }
}
