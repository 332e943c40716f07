/// The address of an original, parsed once and spelled canonically.
///
/// What the WHATWG URL Standard makes of an odd spelling is what stands here: `http://0x7f.1`, `http:\\127.1` and
/// `http://２１３０７０６４３３` all have the host 127.0.0.1. User name and password are dropped and never sent, and so
/// is the fragment. Stricter than the standard: host names hold only ASCII letters, digits, `-`, `_` and `.`, and what
/// RFC 3986 wants encoded in path and query is encoded.
public struct SourceURL: Hashable, Sendable {
    /// How the original is reached.
    public enum Scheme: String, Hashable, Sendable {
        /// A web server, in the clear or over TLS.
        case http, https
        /// A file below the configured local root.
        case local

        /// The port that URLs of the scheme leave out.
        var defaultPort: Int? {
            switch self {
            case .http: 80
            case .https: 443
            case .local: nil
            }
        }
    }

    /// Whom to ask.
    public enum Host: Hashable, Sendable, CustomStringConvertible {
        /// A name for DNS in lower-case ASCII (A-labels where it was international).
        case name(String)
        /// An address literal.
        case address(IPAddress)

        /// The name, or the address without brackets.
        public var description: String {
            switch self {
            case .name(let name): name
            case .address(let address): address.description
            }
        }

        /// As it stands in a URL and in the `Host` field: IPv6 addresses in brackets.
        package var urlText: String {
            switch self {
            case .name(let name): name
            case .address(let address): address.urlHost
            }
        }
    }

    /// One of the three schemes that originals have.
    public let scheme: Scheme
    /// Nil for ``Scheme/local`` only.
    public let host: Host?
    /// 0–65535, explicit or the scheme's default. Nil for ``Scheme/local`` only.
    public let port: Int?
    /// Begins with `/`, percent-encoded, without dot segments (but see ``LocalFiles`` for `local:`).
    public let path: String
    /// What follows the `?`, percent-encoded; empty where nothing does, nil where there is no `?`.
    public let query: String?

    /// Reads an absolute `http:`, `https:` or `local:///` URL of at most ``maximumBytes`` bytes, as it is given and as it is
    /// spelled canonically.
    ///
    /// - Throws: ``SourceURLError``, whose description is a sentence for people.
    public init(parsing text: String) throws(SourceURLError) {
        self = try SourceURLParser.parse(text)
        // Encoding makes three bytes of one at the most.
        guard text.utf8.count <= Self.maximumBytes / 3 || canonical.utf8.count <= Self.maximumBytes else {
            throw .tooLong(limitBytes: Self.maximumBytes)
        }
    }

    init(scheme: Scheme, host: Host?, port: Int?, path: String, query: String?) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
        self.path = path
        self.query = query
    }

    /// The longest URL that is read, in UTF-8 bytes.
    public static let maximumBytes = 8 * 1024

    /// The one spelling of this URL: lower-case scheme and host, no default port, no user, no fragment; path and query
    /// exactly as they go out.
    public var canonical: String { origin + requestTarget }

    /// Path and query as sent in the request line (RFC 9112 §3.2.1).
    package var requestTarget: String {
        path + (query.map { "?" + $0 } ?? "")
    }

    /// Scheme, host and port: what two URLs share if a secret meant for one may be told to the other (RFC 6454).
    package var origin: String {
        "\(scheme.rawValue)://\(host?.urlText ?? "")\(portSuffix)"
    }

    private var portSuffix: String {
        guard let port, port != scheme.defaultPort else { return "" }
        return ":\(port)"
    }
}

extension SourceURL: CustomStringConvertible {
    /// For logs: ``canonical`` with an ellipsis for the query, where tokens tend to be.
    public var description: String {
        origin + path + (query == nil ? "" : "?…")
    }
}
