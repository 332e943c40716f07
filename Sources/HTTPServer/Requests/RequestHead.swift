package import DarkroomNetwork
import Foundation
package import HTTPTypes
import NIOCore
import NIOHTTP1

/// The head of a request, with the parts that answers depend on, read once.
package struct RequestHead: Sendable {
    package let method: HTTPRequest.Method
    /// As the client sent it, but without the base path, and without the scheme and host of the absolute form.
    package let target: String
    /// The target's path. Percent-encoded, as received.
    package let path: String
    /// The address of the client, also behind trusted proxies; nil when unknown.
    package let client: IPAddress?
    /// The key of the client in limits: an IPv4 address or an IPv6 /64 network; empty when unknown.
    package let clientName: String
    package var accept: String? { known[.accept] }
    package var ifNoneMatch: String? { known[.ifNoneMatch] }
    package var ifModifiedSince: String? { known[.ifModifiedSince] }
    package var origin: String? { known[.origin] }
    package var priority: String? { known[.priority] }
    package var saveData: String? { known[.saveData] }
    package var secFetchDest: String? { known[.secFetchDest] }
    package var via: String? { known[.via] }
    /// The client's own id, unchecked.
    var requestID: String? { known[.requestID] }
    /// The fields of the trace; nil if there are none.
    var traceFields: HTTPFields? {
        known[.traceParent] ?? known[.traceState] == nil ? nil : fields(.traceParent, .traceState)
    }
    /// Whether it may be answered in front of the framework: a GET or HEAD request of the usual form, without a body
    /// and without a field that few clients send.
    package private(set) var isPlain: Bool
    /// Whether a trusted proxy sent the request.
    let isFromTrustedProxy: Bool
    private let isOnLoopback: Bool
    private let known: KnownFields
    private let headers: HTTPHeaders

    /// - Parameter peer: the other end of the connection; nil when unknown.
    init(_ head: HTTPRequestHead, from peer: Peer?) {
        method = HTTPRequest.Method(head.method)
        target = Self.originForm(head.uri)
        path = String(Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") }))
        headers = head.headers
        known = KnownFields(headers)
        isPlain =
            head.version == .http1_1 && (head.method == .GET || head.method == .HEAD) && head.uri.utf8.first == 0x2F
            && known.arePlain
        isFromTrustedProxy = peer?.isTrustedProxy ?? false
        isOnLoopback = peer?.isOnLoopback ?? false
        let isForwarded = known[.forwarded] ?? known[.xForwardedFor] != nil
        let forwarded = isForwarded ? headers.fields([.forwarded, .xForwardedFor]) : nil
        client = peer?.client(forwarded)
        clientName = peer?.name(of: client) ?? ""
    }

    /// The head of a request that the framework has read. It is not plain.
    init(_ request: HTTPRequest, from peer: Peer?) {
        let headers = HTTPHeaders(request.headerFields.map { ($0.name.rawName, $0.value) })
        let method = HTTPMethod(rawValue: request.method.rawValue)
        self.init(
            HTTPRequestHead(version: .http1_1, method: method, uri: request.path ?? "", headers: headers), from: peer)
        isPlain = false
    }

    /// Whether the client may have what it asks for.
    package var isConditional: Bool { ifNoneMatch != nil || ifModifiedSince != nil }

    /// The target's query; empty without one. A fragment does not belong to it.
    package var query: String {
        let bytes = target.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        return String(Substring(bytes.prefix { $0 != UInt8(ascii: "#") }))
    }

    /// The value of a field, its lines joined; nil without one. Searches all fields.
    package subscript(_ name: HTTPField.Name) -> String? {
        let values = headers[name.rawName]
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The fields of these names.
    package func fields(_ names: HTTPField.Name...) -> HTTPFields { headers.fields(names) }

    /// Path and query of a target that may be in absolute form, as in `http://host/path?query` (RFC 9112 §3.2.2).
    private static func originForm(_ target: String) -> String {
        guard target.utf8.first != UInt8(ascii: "/"), let scheme = target.range(of: "://") else { return target }
        let rest = target[scheme.upperBound...].utf8.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        return rest.first == UInt8(ascii: "/") ? String(Substring(rest)) : "/" + Substring(rest)
    }
}

extension RequestHead {
    /// Whether the client is on this machine: the listener is bound to a loopback address, and neither a field of the
    /// request nor the name that it has for the server shows a proxy in between.
    package var isLocal: Bool {
        guard isOnLoopback, !Self.proxyFields.contains(where: { self[$0] != nil }),
            let authority = self[.known("Host")], let url = try? SourceURL(parsing: "http://\(authority)/")
        else { return false }
        return url.host?.isLoopback == true
    }

    /// The fields that proxies add to requests.
    private static let proxyFields: [HTTPField.Name] = [
        .forwarded, .xForwardedFor, .known("X-Forwarded-Host"), .known("X-Forwarded-Proto"), .known("X-Real-IP"), .via,
    ]
}

extension HTTPHeaders {
    fileprivate func fields(_ names: [HTTPField.Name]) -> HTTPFields {
        var fields = HTTPFields()
        for name in names {
            for value in self[name.rawName] { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }
}

extension HTTPRequest.Method {
    fileprivate init(_ method: HTTPMethod) {
        switch method {
        case .GET: self = .get
        case .HEAD: self = .head
        default: self = Self(method.rawValue) ?? .connect
        }
    }
}

extension RequestHead {
    /// The other end of a connection.
    struct Peer {
        private let address: IPAddress
        private let name: String
        /// The proxies that may forward the client; nil if the peer is the client.
        private let proxies: TrustedProxies?
        fileprivate var isTrustedProxy: Bool { proxies != nil }
        fileprivate let isOnLoopback: Bool

        /// - Parameter isOnLoopback: whether the listener is bound to a loopback address.
        init(_ address: IPAddress, _ proxies: TrustedProxies, isOnLoopback: Bool = false) {
            self.address = address.unmapped
            name = self.address.clientName
            self.isOnLoopback = isOnLoopback
            self.proxies = proxies.contain(address) ? proxies : nil
        }

        /// - Parameter fields: the fields in which proxies name their clients; nil if there are none.
        fileprivate func client(_ fields: HTTPFields?) -> IPAddress {
            guard let proxies, let fields else { return address }
            return proxies.client(of: address, fields)
        }

        /// The key of a client in limits.
        fileprivate func name(of client: IPAddress?) -> String? { client == address ? name : client?.clientName }
    }

    /// The fields that an answer at once, or its place, can depend on. Their values are in one array, because each step
    /// copies the head.
    fileprivate struct KnownFields {
        private var values = [String?](repeating: nil, count: Field.allCases.count)
        /// Whether each may be read in front of the framework.
        private(set) var arePlain = true

        init(_ headers: HTTPHeaders) {
            for (name, value) in headers {
                guard let field = Field(name) else { continue }
                if !field.isPlain(value) { arePlain = false }
                if let earlier = values[field.rawValue] {
                    if !field.mayRepeat { arePlain = false }
                    values[field.rawValue] = earlier + ", " + value
                } else {
                    values[field.rawValue] = value
                }
            }
        }

        /// The value, its lines joined.
        subscript(_ field: Field) -> String? { values[field.rawValue] }
    }

    fileprivate enum Field: Int, CaseIterable {
        case accept, authorization, cacheControl, connection, contentLength, downlink, ect, expect, forwarded
        case ifModifiedSince, ifNoneMatch, origin, pragma, priority, requestID, rtt, saveData, secCHDPR, secCHWidth
        case secFetchDest, traceParent, traceState, transferEncoding, upgrade, via, xForwardedFor

        private var name: String {
            switch self {
            case .cacheControl: "cache-control"
            case .contentLength: "content-length"
            case .ifModifiedSince: "if-modified-since"
            case .ifNoneMatch: "if-none-match"
            case .requestID: "x-request-id"
            case .saveData: "save-data"
            case .secCHDPR: "sec-ch-dpr"
            case .secCHWidth: "sec-ch-width"
            case .secFetchDest: "sec-fetch-dest"
            case .traceParent: "traceparent"
            case .traceState: "tracestate"
            case .transferEncoding: "transfer-encoding"
            case .xForwardedFor: "x-forwarded-for"
            default: "\(self)"
            }
        }

        /// Nil for any other field.
        init?(_ name: String) {
            let length = name.utf8.count
            guard length < Self.byLength.count,
                let found = Self.byLength[length].first(where: { Self.isEqual(name, $0.name) })
            else { return nil }
            self = found.field
        }

        private static let byLength: [[(name: [UInt8], field: Field)]] = allCases.reduce(
            into: Array(repeating: [], count: 20)
        ) { table, field in
            table[field.name.utf8.count].append((Array(field.name.utf8), field))
        }

        /// Whether a request with this value may be answered in front of the framework.
        func isPlain(_ value: String) -> Bool {
            switch self {
            case .connection: value.utf8.count == 10 && value.lowercased() == "keep-alive"
            case .authorization, .cacheControl, .contentLength, .downlink, .ect, .expect, .pragma, .rtt,
                .transferEncoding, .secCHDPR, .secCHWidth, .upgrade:
                false
            default: true
            }
        }

        /// Whether several lines are usual.
        var mayRepeat: Bool {
            switch self {
            case .connection, .forwarded, .traceParent, .traceState, .xForwardedFor: true
            default: false
            }
        }

        /// Compares a field name without regard to case. Of the characters that the parser accepts in names, only
        /// uppercase letters become lowercase letters by this bit, and none becomes a hyphen.
        private static func isEqual(_ name: String, _ lowercase: [UInt8]) -> Bool {
            name.utf8.elementsEqual(lowercase) { $0 | 0x20 == $1 }
        }
    }
}
