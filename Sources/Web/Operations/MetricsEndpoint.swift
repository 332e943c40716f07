import DarkroomHTTPServer
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /metrics`: all metrics in Prometheus text format.
struct MetricsEndpoint: Sendable {
    let exposition: @Sendable () -> String

    var routes: [Route] {
        let route = Route("/metrics") { _, _ in
            Response(
                status: .ok,
                headers: [
                    .contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store",
                    .xContentTypeOptions: "nosniff",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: exposition())))
        }
        return [route]
    }

    /// The route of a listener that leaves administration to another one.
    static let routeElsewhere = Route("/metrics") { _, _ throws(Problem) in
        throw Problem(.noSuchRoute, "Metrics are at /metrics of the admin port, which the setting 'admin-port' names.")
    }
}
