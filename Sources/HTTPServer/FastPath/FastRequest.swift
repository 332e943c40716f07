package import DarkroomNetwork
import HTTPTypes
import NIOCore
import NIOHTTP1

/// A GET or HEAD request that a ``FastResponder`` may answer, reduced to the parts that a response can depend on.
///
/// It does not exist for a request with a body, an unusual form, or a field that only the framework handles.
package struct FastRequest: Sendable {
    package let target: String
    package let isHead: Bool
    /// The address of the client, also behind trusted proxies; nil when unknown.
    package private(set) var client: IPAddress?
    /// The key of the client in limits; empty when unknown.
    package var clientName: String { client?.clientName ?? "" }
    package private(set) var accept: String?
    package private(set) var ifNoneMatch: String?
    package private(set) var ifModifiedSince: String?
    package private(set) var origin: String?
    package private(set) var priority: String?
    package private(set) var saveData: String?
    /// Whether there are client hints about the size of an image.
    package private(set) var hasSizeHints = false
    package private(set) var via: String?
    /// Whether a trusted proxy sent the request.
    let isFromTrustedProxy: Bool
    /// The client's own id, unchecked.
    private(set) var requestID: String?
    /// The fields of the trace; nil if there are none.
    private(set) var traceFields: HTTPFields?

    /// - Parameter peer: the other end of the connection; nil when unknown.
    init?(_ head: HTTPRequestHead, from peer: Peer?) {
        guard head.version == .http1_1, head.method == .GET || head.method == .HEAD, head.uri.utf8.first == 0x2F
        else { return nil }
        target = head.uri
        isHead = head.method == .HEAD
        isFromTrustedProxy = peer?.isTrustedProxy ?? false
        var proxyFields: HTTPFields?
        for (name, value) in head.headers {
            guard let field = Field(name) else { continue }
            switch field {
            case .forwarded: proxyFields.append(.forwarded, value)
            case .xForwardedFor: proxyFields.append(.xForwardedFor, value)
            default: guard add(value, as: field) else { return nil }
            }
        }
        client = peer?.client(proxyFields)
    }

    /// - Returns: false if the framework has to answer.
    private mutating func add(_ value: String, as field: Field) -> Bool {
        switch field {
        case .accept: return Self.set(&accept, value)
        case .ifNoneMatch: return Self.set(&ifNoneMatch, value)
        case .ifModifiedSince: return Self.set(&ifModifiedSince, value)
        case .origin: return Self.set(&origin, value)
        case .priority: return Self.set(&priority, value)
        case .saveData: return Self.set(&saveData, value)
        case .secCHDPR, .secCHWidth: hasSizeHints = true
        case .via: return Self.set(&via, value)
        case .requestID: return Self.set(&requestID, value)
        case .connection: return value.utf8.count == 10 && value.lowercased() == "keep-alive"
        case .traceParent: traceFields.append(.traceParent, value)
        case .traceState: traceFields.append(.traceState, value)
        case .forwarded, .xForwardedFor: break
        case .authorization, .cacheControl, .contentLength, .downlink, .ect, .expect, .pragma, .rtt, .transferEncoding,
            .upgrade:
            return false
        }
        return true
    }

    /// - Returns: false for a repeated field.
    private static func set(_ field: inout String?, _ value: String) -> Bool {
        guard field == nil else { return false }
        field = value
        return true
    }
}

extension HTTPFields? {
    fileprivate mutating func append(_ name: HTTPField.Name, _ value: String) {
        if self == nil { self = HTTPFields() }
        self?.append(HTTPField(name: name, value: value))
    }
}

extension FastRequest {
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

    /// The fields that a response can depend on. The response to a request with any other field is the same without it.
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
