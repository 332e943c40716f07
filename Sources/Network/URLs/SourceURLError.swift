/// Why a text is no address of an original. Each description says what is wrong and what is allowed; none quotes more
/// of the text than the scheme.
public enum SourceURLError: Error, Hashable, Sendable {
    /// More than `limitBytes` bytes of UTF-8.
    case tooLong(limitBytes: Int)
    /// No scheme stands at the start, as in a relative reference.
    case missingScheme
    /// The scheme, in lower case, is none that originals are fetched by.
    case unsupportedScheme(String)
    /// No host, or nothing but a user or a port.
    case emptyHost
    /// Forbidden characters, a malformed IPv6 literal, an impossible IPv4 number or no valid international name.
    case invalidHost
    /// Not a number from 0 to 65535.
    case invalidPort
    /// A `local:` URL that does not begin with exactly `local:///`.
    case invalidLocalForm
}

extension SourceURLError: CustomStringConvertible {
    /// A sentence for people: what is wrong and what is allowed.
    public var description: String {
        switch self {
        case .tooLong(let limitBytes):
            "The URL is too long; at most \(limitBytes) bytes are allowed."
        case .missingScheme:
            "The URL has no scheme; give an absolute URL that begins with http://, https:// or local:///."
        case .unsupportedScheme(let scheme):
            "The scheme '\(scheme)' is not supported; use http, https or local."
        case .emptyHost:
            "The URL has no host; give one as in https://example.com/picture.jpg."
        case .invalidHost:
            "The URL's host is not valid; give a domain name, an IPv4 address or an IPv6 address in brackets."
        case .invalidPort:
            "The URL's port is not valid; give a number from 0 to 65535."
        case .invalidLocalForm:
            "A local URL has no host; write it as local:///folder/picture.jpg."
        }
    }
}
