import DarkroomHTTPServer
import DarkroomRequests

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
        if path.hasPrefix("/cdn-cgi/image/") { return .cloudflare }
        let segments = path.split(separator: "/")
        guard segments.count >= 3 else { return nil }
        let isSized = ["fit-in", "smart"].contains(segments[1]) || segments[1].wholeMatch(of: /-?\d*x-?\d*/) != nil
        let isURL = ["http:", "https:"].contains(segments[1])
        if isSized || segments[1].hasPrefix("filters:") || isURL && segments[0] == "unsafe" { return .thumbor }
        let hasOption = !isURL && segments[1].prefixMatch(of: /[a-z_]+:/) != nil
        return hasOption || segments.contains("plain") ? .imgproxy : nil
    }
}
