import DarkroomNetwork
import HTTPTypes

extension HTTPField.Name {
    /// RFC 9211.
    static let cacheStatus = known("Cache-Status")
    /// W3C Server Timing.
    static let serverTiming = known("Server-Timing")
    /// W3C Referrer Policy.
    static let referrerPolicy = known("Referrer-Policy")
    /// The id of the request in logs and in problems.
    static let requestID = known("X-Request-Id")

    static let placeholderBlurHash = known("X-Placeholder-BlurHash")
    static let placeholderThumbHash = known("X-Placeholder-ThumbHash")
    static let placeholderColor = known("X-Placeholder-Color")
    static let placeholderLqip = known("X-Placeholder-Lqip")
}
