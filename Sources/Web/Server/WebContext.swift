import Hummingbird
import Logging

/// What a request carries along besides itself.
struct WebContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Unique among all requests of all servers, for practical purposes.
    let requestID: String

    init(source: ApplicationRequestContextSource) {
        self.init(logger: source.logger)
    }

    init(logger: Logger) {
        coreContext = CoreRequestContextStorage(source: LoggerSource(logger: logger))
        requestID = logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? ""
    }

    private struct LoggerSource: RequestContextSource {
        let logger: Logger
    }
}
