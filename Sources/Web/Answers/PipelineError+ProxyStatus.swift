import DarkroomHTTPCaching
import DarkroomPipeline

extension PipelineError {
    /// What `Proxy-Status` says (RFC 9209): what was wrong with the origin; nil = nothing was.
    var proxyStatus: ProxyStatus? {
        switch cause {
        case .originFailed(let trouble), .originTimedOut(let trouble):
            ProxyStatus(proxy: "darkroom", trouble.proxyError, receivedStatus: trouble.receivedStatus)
        case .notFound(let status?): ProxyStatus(proxy: "darkroom", nil, receivedStatus: status)
        case .originUnavailable: ProxyStatus(proxy: "darkroom", .destinationUnavailable)
        case .loop: ProxyStatus(proxy: "darkroom", .proxyLoopDetected)
        default: nil
        }
    }
}
