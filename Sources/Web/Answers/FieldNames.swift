import HTTPTypes

extension HTTPField.Name {
    /// RFC 9211.
    static let cacheStatus = known("Cache-Status")
    /// W3C Server Timing.
    static let serverTiming = known("Server-Timing")
    /// The id of the request in logs and in problems.
    static let requestID = known("X-Request-Id")

    private static func known(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("'\(text)' is no field name") }
        return name
    }
}
