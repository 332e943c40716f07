package import AsyncHTTPClient
package import NIOHTTP1

/// The request line and the `Host` of a request, which leave this machine byte for byte.
///
/// AsyncHTTPClient takes the path from another parser's reading of the URL, which is empty for escapes that are not
/// UTF-8. It is therefore given the origin alone, and this value in a field that ``ClientConnection`` removes. A
/// request without the field is not sent.
package struct ExactRequest: Hashable, Sendable {
    let method: String
    /// Scheme, host and port: all that the HTTP client reads of a URL.
    package let origin: String
    /// Path and query (RFC 9112 §3.2.1).
    let target: String
    /// The value of `Host`.
    let authority: String

    /// The field that carries the request through the HTTP client.
    static let fieldName = "darkroom-exact-request"

    /// - Parameter url: an `http`, `https` or `http+unix` URL that was parsed before. Its bytes are split and sent as
    ///   they are, without the fragment.
    /// - Returns: nil if the URL has no scheme or host, or bytes that would end the request line.
    package init?(_ method: HTTPMethod = .GET, _ url: String) {
        let bytes = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard bytes.allSatisfy({ (0x21...0x7e).contains($0) }), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let start = bytes.index(colon, offsetBy: 3)
        let end = bytes[start...].firstIndex { "/?".utf8.contains($0) } ?? bytes.endIndex
        guard start < end, let origin = String(bytes[..<end]), let host = String(bytes[start..<end]),
            let rest = String(bytes[end...]), let scheme = String(bytes[..<colon])
        else { return nil }
        self.method = method.rawValue
        self.origin = origin
        target = rest.hasPrefix("/") ? rest : "/" + rest
        // The host of a Unix socket's URL is a path.
        authority = ["http", "https"].contains(scheme) ? host : "localhost"
    }

    /// The request in a head of the HTTP client, or nil if the head has none or contradicts it.
    init?(_ head: HTTPRequestHead) {
        let parts = head.headers.first(name: Self.fieldName)?.split(separator: " ") ?? []
        guard parts.count == 3, parts[0] == head.method.rawValue, head.headers["host"] == [String(parts[2])] else {
            return nil
        }
        (method, origin, target, authority) = (String(parts[0]), "", String(parts[1]), String(parts[2]))
    }

    /// The fields to send through the HTTP client.
    package var fields: HTTPHeaders { ["host": authority, Self.fieldName: "\(method) \(target) \(authority)"] }
}

extension HTTPClientRequest {
    /// A request with exactly the path and query of this URL, and a `Host` field. Execution fails if it is not a URL.
    package init(_ method: HTTPMethod = .GET, exactly url: String) {
        let exact = ExactRequest(method, url)
        self.init(url: exact?.origin ?? "")
        self.method = method
        headers = exact?.fields ?? [:]
    }
}
