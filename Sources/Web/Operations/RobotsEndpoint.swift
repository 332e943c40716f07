import DarkroomHTTPServer
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /robots.txt` (RFC 9309): what crawlers may fetch.
struct RobotsEndpoint: Sendable {
    /// Whether crawlers may fetch images; nothing at all otherwise.
    let allowsRobots: Bool

    var routes: [Route] {
        let text = "User-agent: *\nDisallow: \(allowsRobots ? "" : "/")\n"
        let route = Route("/robots.txt") { _, _ in
            Response(
                status: .ok,
                headers: [
                    .contentType: "text/plain; charset=utf-8", .cacheControl: "public, max-age=3600",
                    .xContentTypeOptions: "nosniff",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        }
        return [route]
    }
}
