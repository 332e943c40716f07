import Crypto
import DarkroomNetwork
public import HTTPTypes

/// Request fields that the operator sets for some hosts, such as `User-Agent`, `Referer` or `Authorization`.
///
/// They are sent to these hosts only: each hop of a redirect gets the fields of its own host, and none after a redirect
/// from https to http.
public struct OriginFields: Hashable, Sendable {
    /// The fields for the hosts of one pattern.
    public struct Rule: Hashable, Sendable {
        /// A pattern as in ``HostPolicy/allowHosts``.
        public var host: String
        /// The fields. Fields that frame the message or that the fetcher sets (`Host`, `Via`, `Accept-Encoding`,
        /// `Range`, conditions, …) are ignored.
        public var fields: HTTPFields

        public init(host: String, fields: HTTPFields) {
            self.host = host.lowercased()
            self.fields = fields
        }
    }

    /// The rules. The first of several rules with a field takes precedence.
    public var rules: [Rule]

    public init(_ rules: [Rule] = []) {
        self.rules = rules
    }

    func fields(for host: SourceURL.Host) -> HTTPFields {
        rules.reduce(into: HTTPFields()) { fields, rule in
            guard host.matches(anyOf: [rule.host]) else { return }
            let known = fields
            fields.append(contentsOf: rule.fields.filter { !known.contains($0.name) })
        }
    }

    /// Whether a rule may have a field of this name.
    package static func allows(_ name: HTTPField.Name) -> Bool { !RequestHeaders.isReserved(name) }
}

extension HTTPField {
    /// The field with a digest in place of its value, which may be a secret: what selected a response is stored.
    var digested: HTTPField {
        let digest = SHA256.hash(data: withUnsafeBytesOfValue { Array($0) })
        return HTTPField(name: name, value: "digest-" + digest.description.suffix(64).prefix(32))
    }
}
