import DarkroomNetwork
import HTTPTypes

extension HTTPField.Name {
    /// RFC 9213.
    static let cdnCacheControl = known("CDN-Cache-Control")
    /// W3C Edge Architecture Specification: tags to purge by, with spaces between.
    static let surrogateKey = known("Surrogate-Key")
    /// The same with commas between.
    static let cacheTag = known("Cache-Tag")
}
