import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomQuery
import DarkroomRequests
import HTTPTypes

/// The value, or the problem of its parameter.
func requireValid<Value>(_ value: @autoclosure () throws(InvalidParameter) -> Value) throws(Problem) -> Value {
    do throws(InvalidParameter) { return try value() } catch { throw Problem(error) }
}

/// The value, or the problem of the source's address.
func requireSource<Value>(_ value: @autoclosure () throws(InvalidSourceURL) -> Value) throws(Problem) -> Value {
    do throws(InvalidSourceURL) { return try value() } catch { throw Problem(error) }
}

/// The value, or the problem of a request that is not authorized.
func requireAuthorized<Value>(_ value: @autoclosure () throws(AuthorizationError) -> Value) throws(Problem) -> Value {
    do throws(AuthorizationError) { return try value() } catch { throw Problem(error) }
}

extension Problem {
    init(_ error: InvalidParameter) {
        self.init(.invalidParameter, error.detail, parameter: error.parameter)
    }

    init(_ error: InvalidSourceURL) {
        self.init(.invalidURL, error.detail, parameter: error.parameter)
    }

    init(_ error: AuthorizationError) {
        self.init(error.problemKind, error.detail, parameter: error.parameter)
    }

    static let loop = Problem(.loop, "The request has already passed through this server, so its source is a loop.")

    static let notHealthy = Problem(
        .unavailable, "The processes that decode images exit faster than they can be replaced.", retryAfterSeconds: 5)

    static let starting = Problem(
        .unavailable, "The server is not listening on all its ports yet.", retryAfterSeconds: 1)

    static let cacheUnavailable = Problem(
        .cacheUnavailable,
        "The volume or directory of the disk cache is failing: images are served, but nothing is stored on disk.",
        retryAfterSeconds: 5)

    static let purgeNotShared = Problem(
        .purgeNotShared, "The purge was carried out here, but other servers may still serve the images; repeat it.",
        retryAfterSeconds: 5)

    static let adminDisabled = Problem(
        .adminDisabled, "The server has no admin token; its operator can set 'admin-token' or 'admin-port'.")

    static let administrationElsewhere = Problem(
        .noSuchRoute, "Administration and metrics are at the admin port, which the setting 'admin-port' names.")

    static let adminTokenWrong = {
        var problem = Problem(.adminTokenWrong, "Send the server's admin token as 'Authorization: Bearer TOKEN'.")
        // A 401 must have a challenge (RFC 9110 §15.5.2), and a challenge needs a parameter (RFC 6750 §3).
        problem.fields[.wwwAuthenticate] = #"Bearer realm="darkroom""#
        return problem
    }()

    static func refreshNotAllowed(_ mode: CacheMode) -> Problem {
        Problem(
            .refreshNotAllowed,
            "cache=\(mode.rawValue) contacts the origin, which requires the admin token as "
                + "'Authorization: Bearer TOKEN'.", parameter: "cache")
    }

    static let gpsNotAllowed = Problem(
        .gpsNotAllowed, "Parameter 'gps' requires the server's setting 'allow-gps'; remove it.", parameter: "gps")

    static let noSuchJob = Problem(
        .noSuchJob, "No job has this id, or it has expired; GET /prefetch lists all jobs.")
}

extension AuthorizationError {
    fileprivate var problemKind: ProblemKind {
        switch self {
        case .invalidParameter: .invalidParameter
        case .signatureRequired, .pathSignatureRequired: .signatureRequired
        case .signatureWrong, .pathSignatureWrong: .signatureWrong
        case .signatureExpired: .signatureExpired
        case .pathExpired: .urlExpired
        case .presetsOnly, .presetNotAllowed, .pathPresetsOnly: .presetsOnly
        case .sourceNotAllowed: .sourceNotAllowed
        }
    }
}

/// Paths of other services on a server that does not accept them.
enum ForeignPaths {
    /// The problem of a path without a route. It names the setting for a path that looks like another service's.
    static func problem(of path: String) -> Problem {
        guard let service = service(of: path) else { return .noSuchRoute }
        let name = service.rawValue
        return Problem(
            .noSuchRoute,
            "No endpoint has this path, which looks like one of \(name): the setting compat=\(name) accepts it, and "
                + "'darkroom translate --compat \(name)' shows what it means here.")
    }

    private static func service(of path: String) -> Dialect? {
        let segments = path.split(separator: "/")
        guard segments.count >= 3 else { return nil }
        if path.hasPrefix("/cdn-cgi/image/") { return .cloudflare }
        let isSized = ["fit-in", "smart"].contains(segments[1]) || segments[1].wholeMatch(of: /-?\d*x-?\d*/) != nil
        let isURL = ["http:", "https:"].contains(segments[1])
        if isSized || segments[1].hasPrefix("filters:") || isURL && segments[0] == "unsafe" { return .thumbor }
        let hasOption = !isURL && segments[1].prefixMatch(of: /[a-z_]+:/) != nil
        return hasOption || segments.contains("plain") ? .imgproxy : nil
    }
}
