import Crypto
import DarkroomNetwork
public import HTTPTypes
import NIOHTTP1
import ServiceContextModule
import Tracing

/// The header fields of a request to an origin.
struct RequestHeaders {
    /// The fields that can select a representation: Darkroom's fields and the caller's.
    let selecting: HTTPFields
    /// All fields of the request, without the fields that the HTTP client adds to frame the message.
    private(set) var all: HTTPHeaders

    /// Fields that callers cannot set: they frame the message, belong to the connection, make the request conditional,
    /// or are set by the client.
    private static let reservedNames: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "proxy-authorization",
        "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade", "via",
    ]

    /// Whether the fetcher sets the field, or none may.
    static func isReserved(_ name: HTTPField.Name) -> Bool { reservedNames.contains(name.canonicalName) }

    /// The codings to ask for: SVGs are half as large compressed, and other images hardly smaller.
    private static func codings(for url: SourceURL) -> String {
        url.path.lowercased().hasSuffix(".svg") ? "gzip, br" : "identity"
    }

    /// Our own fields, then the operator's and the caller's. The caller's take precedence over the operator's, and both
    /// over our `Accept` and `User-Agent`.
    ///
    /// - Parameter trace: fields that propagate the trace. They replace fields of the same names and are never part of
    ///   ``selecting``.
    init(_ request: OriginRequest, userAgent: String, viaPseudonym: String, trace: HTTPFields = [:]) {
        let allowed = request.headers.filter {
            !Self.isReserved($0.name) && !trace.contains($0.name)
        }
        let operatorFields = request.operatorFields.filter {
            !Self.isReserved($0.name) && !trace.contains($0.name) && !allowed.contains($0.name)
        }
        let defaults: HTTPFields = [
            .accept: "image/*,*/*;q=0.5", .userAgent: userAgent, .acceptEncoding: Self.codings(for: request.url),
        ]
        let ours = defaults.filter { !allowed.contains($0.name) && !operatorFields.contains($0.name) }
        selecting = HTTPFields(ours + operatorFields.map(\.digested) + allowed)
        let others = request.conditions + [HTTPField(name: .via, value: "1.1 \(viaPseudonym)")] + trace
        let cookies = [operatorFields[.cookie], request.cookies].compactMap(\.self).joined(separator: "; ")
        let own = operatorFields.filter { $0.name != .cookie }
        all = HTTPHeaders((ours + own + allowed + others).map { ($0.name.rawName, $0.value) })
        if !cookies.isEmpty, !allowed.contains(.cookie) { all.add(name: "Cookie", value: cookies) }
    }
}

extension HTTPFields {
    /// The fields that propagate the current task's trace to an origin, by the instrument of the process.
    ///
    /// Empty for background work, which may outlive the request that caused it and serves others. A download that
    /// several requests wait for carries the trace of the first request.
    static func trace(
        for request: OriginRequest, by instrument: any Instrument = InstrumentationSystem.instrument
    ) -> HTTPFields {
        var fields = HTTPFields()
        guard request.urgency() != .background, let context = ServiceContext.current else { return fields }
        instrument.inject(context, into: &fields, using: FieldInjector())
        return fields
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        guard let name = HTTPField.Name(key), HTTPField.isValidValue(value) else { return }
        fields[name] = value
    }
}

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
