import DarkroomNetwork
import NIOHTTP1

/// A content coding that is decoded although no request asks for it, as browsers do (RFC 9110 §8.4.1, RFC 7932,
/// RFC 8878).
enum ContentCoding: Hashable {
    case gzip, deflate, brotli, zstandard

    /// The most codings of one response.
    static let maxCodings = 4

    /// Nil for `identity`, for `aws-chunked`, which stores keep from uploads that they decoded, and for any other word,
    /// such as a charset: they mean nothing.
    init?(_ name: Substring) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstandard
        default: return nil
        }
    }

    /// The codings of `Content-Encoding` fields, in the order in which they were applied; nil if there are too many.
    static func list(_ values: [some StringProtocol]) -> [ContentCoding]? {
        let codings = values.flatMap { Substring($0).plainListMembers }.compactMap(ContentCoding.init)
        return codings.count <= maxCodings ? codings : nil
    }
}
