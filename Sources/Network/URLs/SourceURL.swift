/// The URL of an original, parsed once and spelled canonically.
///
/// Parsed as in the WHATWG URL Standard, so `http://0x7f.1`, `http:\\127.1` and `http://２１３０７０６４３３` all have the host
/// 127.0.0.1. User name, password and fragment are removed and never sent. Stricter than the standard: host names
/// contain only ASCII letters, digits, `-`, `_` and `.` (UTS #46 applied). Path and query of a web server's URL are the
/// bytes that a browser would send, and they leave on the socket as they are.
public struct SourceURL: Hashable, Sendable {
    /// The scheme, which selects the fetcher.
    public enum Scheme: String, Hashable, Sendable {
        /// A web server, without or with TLS.
        case http, https
        /// An object of a store.
        case s3
        /// A file below the configured local root.
        case local
        /// Bytes that came with the request, named by their hash. No text parses as such a URL.
        case upload
        /// A drawing of a color or of a gradient, from which canvases of any size are made.
        case color

        /// Whether sources are resources of web servers.
        package var isWeb: Bool { defaultPort != nil }

        /// The scheme's default port, which URLs omit.
        var defaultPort: Int? {
            switch self {
            case .http: 80
            case .https: 443
            case .s3, .local, .upload, .color: nil
            }
        }
    }

    /// The host to connect to.
    public enum Host: Hashable, Sendable, CustomStringConvertible {
        /// A DNS name in lower-case ASCII. International names are converted to A-labels.
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

        /// The host as in a URL and in the `Host` field: IPv6 addresses in brackets.
        package var urlText: String {
            if case .address(.v6) = self { "[\(description)]" } else { description }
        }
    }

    public let scheme: Scheme
    /// The host, or the name of an object store's bucket in lower case. Nil for the schemes without
    /// hosts.
    public let host: Host?
    /// The port, 0–65535, explicit or the scheme's default. Nil for schemes without ports.
    public let port: Int?
    /// The percent-encoded path. Begins with `/` and contains no dot segments, except in `local:` URLs. In `s3:` URLs,
    /// the object's key follows.
    public let path: String
    /// The percent-encoded query without its `?`, or nil if there is no `?`.
    public let query: String?

    /// Parses an absolute `http:`, `https:`, `s3:`, `local:///` or `color:///` URL. Neither the text nor its canonical
    /// spelling may exceed ``maximumBytes``.
    ///
    /// - Throws: ``SourceURLError``.
    public init(parsing text: String) throws(SourceURLError) {
        self = try SourceURLParser.parse(text)
        // Encoding at most triples the length.
        guard text.utf8.count <= Self.maximumBytes / 3 || canonical.utf8.count <= Self.maximumBytes else {
            throw .tooLong(limitBytes: Self.maximumBytes)
        }
    }

    /// The source of an upload.
    ///
    /// - Parameter digest: the SHA-256 of the bytes in hexadecimal digits.
    package init(uploadOf digest: String) {
        self.init(scheme: .upload, path: "/\(digest)")
    }

    init(scheme: Scheme, host: Host? = nil, port: Int? = nil, path: String, query: String? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
        self.path = path
        self.query = query
    }

    /// The maximum length of a URL in UTF-8 bytes: 8 KiB.
    public static let maximumBytes = 8 * 1024
    /// The maximum length of an object's key in bytes, as stores allow it.
    static let maximumKeyBytes = 1024

    /// The canonical spelling: lower-case scheme and host, no default port, no credentials, no fragment, and path and
    /// query as they are sent.
    public var canonical: String { origin + requestTarget }

    package var gradient: ColorGradient? {
        scheme == .color ? ColorGradient(parsing: path.utf8.dropFirst()) : nil
    }

    /// The key of an `s3:` URL, decoded.
    package var objectKey: String? {
        guard scheme == .s3 else { return nil }
        return String(decoding: PercentEncoding.decodeLeniently(Array(path.utf8.dropFirst())[...]), as: UTF8.self)
    }

    /// Path and query as in the request line (RFC 9112 §3.2.1).
    package var requestTarget: String {
        path + (query.map { "?" + $0 } ?? "")
    }

    /// Scheme, host and port (RFC 6454). Credentials for one origin must not be sent to another.
    package var origin: String {
        let suffix = port == scheme.defaultPort ? "" : port.map { ":\($0)" } ?? ""
        return "\(scheme.rawValue)://\(host?.urlText ?? "")\(suffix)"
    }
}

extension SourceURL: CustomStringConvertible {
    /// The URL for logs: ``canonical`` with an ellipsis in place of the query, which may contain tokens.
    public var description: String {
        origin + path + (query == nil ? "" : "?…")
    }
}

/// Why a text is not the URL of an original. Descriptions state what is wrong and what is allowed, and quote no part of
/// the text but the scheme.
public enum SourceURLError: Error, Hashable, Sendable {
    /// More than `limitBytes` bytes of UTF-8.
    case tooLong(limitBytes: Int)
    /// The scheme is missing, as in a relative reference.
    case missingScheme
    /// The scheme, in lower case, is not `http`, `https`, `s3`, `local` or `color`.
    case unsupportedScheme(String)
    /// The host is missing.
    case emptyHost
    /// The host has forbidden characters, or is a malformed IPv6 literal, IPv4 number or international name.
    case invalidHost
    /// The port is not a number from 0 to 65535.
    case invalidPort
    /// The `local:` URL does not begin with exactly `local:///`.
    case invalidLocalForm
    /// The `color:` URL is not `color:///` and a ``ColorGradient``.
    case invalidColorForm
    /// The `s3:` URL is not a name and a key, or has a query or fragment.
    case invalidS3Form
    /// The key of the `s3:` URL is empty, too long, not UTF-8, or has NUL or a segment `.` or `..`.
    case invalidObjectKey
    /// The path behind a short name or a base URL is empty, absolute, or has a segment `.` or `..`.
    case invalidRelativePath
}

extension SourceURLError: CustomStringConvertible {
    /// One sentence that states what is wrong and what is allowed.
    public var description: String {
        switch self {
        case .tooLong(let limitBytes):
            "The URL is too long; at most \(limitBytes) bytes are allowed."
        case .missingScheme:
            "The URL has no scheme; give an absolute URL that begins with http://, https://, s3:// or local:///."
        case .unsupportedScheme(let scheme):
            "The scheme '\(scheme)' is not supported; use http, https, s3 or local."
        case .emptyHost:
            "The URL has no host; give one as in https://example.com/image.jpg."
        case .invalidHost:
            "The URL's host is not valid; give a domain name, an IPv4 address or an IPv6 address in brackets."
        case .invalidPort:
            "The URL's port is not valid; give a number from 0 to 65535."
        case .invalidLocalForm:
            "A local URL has no host; write it as local:///folder/image.jpg."
        case .invalidColorForm:
            "A color URL is color:/// with a color as RRGGBB or RRGGBBAA in hexadecimal, or two colors, an angle "
                + "from 0 to 359 and a size with commas between; write it as color:///ff8800 or "
                + "color:///ff8800,0044cc,90,600x400."
        case .invalidS3Form:
            "An S3 URL is s3://name/key, with '?' and '#' in the key percent-encoded; write it as "
                + "s3://media/folder/image.jpg."
        case .invalidObjectKey:
            "The object's key must be 1 to \(SourceURL.maximumKeyBytes) bytes of UTF-8 without NUL and without the "
                + "segments '.' and '..'."
        case .invalidRelativePath:
            "Behind a short name or a base URL, the source must be a relative path without the segments '.' and '..', "
                + "such as folder/image.jpg."
        }
    }
}
