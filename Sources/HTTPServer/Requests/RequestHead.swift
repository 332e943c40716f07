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
    package private(set) var client: IPAddress?
    /// The key of the client in limits: an IPv4 address or an IPv6 /64 network; empty when unknown.
    package var clientName: String { client?.clientName ?? "" }
    package private(set) var accept: String?
    package private(set) var ifNoneMatch: String?
    package private(set) var ifModifiedSince: String?
    package private(set) var origin: String?
    package private(set) var priority: String?
    package private(set) var saveData: String?
    package private(set) var secFetchDest: String?
    package private(set) var via: String?
    /// Whether it may be answered in front of the framework: a GET or HEAD request of the usual form, without a body
    /// and without a field that few clients send.
    package private(set) var isPlain: Bool
    /// Whether a trusted proxy sent the request.
    let isFromTrustedProxy: Bool
    /// The client's own id, unchecked.
    private(set) var requestID: String?
    /// The fields of the trace; nil if there are none.
    private(set) var traceFields: HTTPFields?
    private let headers: HTTPHeaders

    /// - Parameter peer: the other end of the connection; nil when unknown.
    init(_ head: HTTPRequestHead, from peer: Peer?) {
        method = HTTPRequest.Method(head.method)
        target = Self.originForm(head.uri)
        path = String(Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") }))
        headers = head.headers
        isPlain =
            head.version == .http1_1 && (head.method == .GET || head.method == .HEAD) && head.uri.utf8.first == 0x2F
        isFromTrustedProxy = peer?.isTrustedProxy ?? false
        var proxyFields: HTTPFields?
        for (name, value) in head.headers {
            guard let field = Field(name) else { continue }
            switch field {
            case .forwarded: proxyFields.append(.forwarded, value)
            case .xForwardedFor: proxyFields.append(.xForwardedFor, value)
            default: add(value, as: field)
            }
        }
        client = peer?.client(proxyFields)
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
    package func fields(_ names: HTTPField.Name...) -> HTTPFields {
        var fields = HTTPFields()
        for name in names {
            for value in headers[name.rawName] { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    /// Path and query of a target that may be in absolute form, as in `http://host/path?query` (RFC 9112 §3.2.2).
    private static func originForm(_ target: String) -> String {
        guard target.utf8.first != UInt8(ascii: "/"), let scheme = target.range(of: "://") else { return target }
        let rest = target[scheme.upperBound...].utf8.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        return rest.first == UInt8(ascii: "/") ? String(Substring(rest)) : "/" + Substring(rest)
    }

    private mutating func add(_ value: String, as field: Field) {
        switch field {
        case .accept: Self.set(&accept, value, &isPlain)
        case .ifNoneMatch: Self.set(&ifNoneMatch, value, &isPlain)
        case .ifModifiedSince: Self.set(&ifModifiedSince, value, &isPlain)
        case .origin: Self.set(&origin, value, &isPlain)
        case .priority: Self.set(&priority, value, &isPlain)
        case .saveData: Self.set(&saveData, value, &isPlain)
        case .secFetchDest: Self.set(&secFetchDest, value, &isPlain)
        case .via: Self.set(&via, value, &isPlain)
        case .requestID: Self.set(&requestID, value, &isPlain)
        case .connection:
            if value.utf8.count != 10 || value.lowercased() != "keep-alive" { isPlain = false }
        case .traceParent: traceFields.append(.traceParent, value)
        case .traceState: traceFields.append(.traceState, value)
        case .forwarded, .xForwardedFor: break
        case .authorization, .cacheControl, .contentLength, .downlink, .ect, .expect, .pragma, .rtt, .transferEncoding,
            .secCHDPR, .secCHWidth, .upgrade:
            isPlain = false
        }
    }

    /// A request that repeats a field is not plain.
    private static func set(_ field: inout String?, _ value: String, _ isPlain: inout Bool) {
        if field != nil { isPlain = false }
        field = field.map { $0 + ", " + value } ?? value
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

extension HTTPFields? {
    fileprivate mutating func append(_ name: HTTPField.Name, _ value: String) {
        if self == nil { self = HTTPFields() }
        self?.append(HTTPField(name: name, value: value))
    }
}

extension RequestHead {
    /// The other end of a connection.
    struct Peer {
        private let address: IPAddress
        /// The proxies that may forward the client; nil if the peer is the client.
        private let proxies: TrustedProxies?
        fileprivate var isTrustedProxy: Bool { proxies != nil }

        init(_ address: IPAddress, _ proxies: TrustedProxies) {
            self.address = address.unmapped
            self.proxies = proxies.contain(address) ? proxies : nil
        }

        /// - Parameter fields: those in which proxies name their clients; nil if there are none.
        fileprivate func client(_ fields: HTTPFields?) -> IPAddress {
            guard let proxies, let fields else { return address }
            return proxies.client(of: address, fields)
        }
    }

    /// The fields that an answer at once, or its place, can depend on.
    private enum Field: String, CaseIterable {
        case accept, authorization
        case cacheControl = "cache-control"
        case connection
        case contentLength = "content-length"
        case downlink, ect, expect, forwarded
        case ifModifiedSince = "if-modified-since"
        case ifNoneMatch = "if-none-match"
        case origin, pragma, priority, rtt
        case requestID = "x-request-id"
        case saveData = "save-data"
        case secCHDPR = "sec-ch-dpr"
        case secCHWidth = "sec-ch-width"
        case secFetchDest = "sec-fetch-dest"
        case traceParent = "traceparent"
        case traceState = "tracestate"
        case transferEncoding = "transfer-encoding"
        case upgrade, via
        case xForwardedFor = "x-forwarded-for"

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
            table[field.rawValue.utf8.count].append((Array(field.rawValue.utf8), field))
        }

        /// Compares a field name without regard to case. Of the characters that the parser accepts in names, only
        /// uppercase letters become lowercase letters by this bit, and none becomes a hyphen.
        private static func isEqual(_ name: String, _ lowercase: [UInt8]) -> Bool {
            name.utf8.elementsEqual(lowercase) { $0 | 0x20 == $1 }
        }
    }
}
