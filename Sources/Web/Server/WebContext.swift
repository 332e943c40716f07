import Hummingbird
import Logging

/// What a request carries along besides itself.
struct WebContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Unique among all requests of all servers, for practical purposes.
    let requestID: String

    /// Takes over the id that the server's own log lines carry; log handlers that keep no metadata have none.
    init(source: ApplicationRequestContextSource) {
        let logged = source.logger[metadataKey: "hb.request.id"].map { "\($0)" }
        self.init(logger: source.logger, requestID: logged ?? "\(RequestID())")
    }

    init(logger: Logger, requestID: String) {
        coreContext = CoreRequestContextStorage(source: LoggerSource(logger: logger))
        self.requestID = requestID
    }

    private struct LoggerSource: RequestContextSource {
        let logger: Logger
    }
}
