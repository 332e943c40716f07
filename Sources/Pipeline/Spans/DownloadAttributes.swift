import DarkroomMachine
import DarkroomNetwork
import DarkroomOrigin
import HTTPTypes
import Tracing

extension RecordedSpan {
    /// Adds the attributes of a request, without its path and query, which may contain secrets.
    func describe(_ request: OriginRequest) {
        span.updateAttributes { attributes in
            attributes["url.scheme"] = request.url.scheme.rawValue
            guard let host = request.url.host else { return }
            attributes["http.request.method"] = "GET"
            attributes["server.address"] = host.description
            if let port = request.url.port { attributes["server.port"] = port }
        }
    }

    /// Adds the attributes of the response.
    func describe(_ response: OriginResponse) {
        span.updateAttributes { attributes in
            if response.url.host != nil { attributes["http.response.status_code"] = Int(response.status.code) }
            attributes["http.response.body.size"] = response.content.count
        }
    }
}

extension OriginError: SpanFailure {
    /// The name in RFC 9209 §2.3 if there is one, or else the origin's status.
    var spanType: String { PipelineError(self).spanType }

    var spanMessage: String? { description }

    var receivedStatus: Int? {
        switch self {
        case .notFound(let response), .unexpectedStatus(let response): response.status
        default: nil
        }
    }
}
