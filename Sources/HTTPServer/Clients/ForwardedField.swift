import DarkroomNetwork
import HTTPTypes

extension TrustedProxies {
    /// The addresses in the `for` parameters of a line of `Forwarded` (RFC 7239 §4), in the order of the hops; nil
    /// where one is `unknown`, obfuscated, malformed or missing. A line with unbalanced quotes has one element, which
    /// is nil, because its element boundaries are ambiguous.
    static func addresses(ofForwarded line: String) -> [IPAddress?] {
        let elements = FieldList(line)
        // Empty list elements are ignored (RFC 9110 §5.6.1.2).
        return elements.hasUnclosedQuote ? [nil] : elements.members.filter { !$0.isEmpty }.map(address)
    }

    private static func address(ofElement element: Substring) -> IPAddress? {
        let pairs = FieldList(element, separator: UInt8(ascii: ";"))
        guard !pairs.hasUnclosedQuote else { return nil }
        var names: Set<String> = []
        var found: IPAddress?
        for pair in pairs.members where !pair.isEmpty {
            // A malformed or repeated parameter invalidates the whole element.
            guard let (name, value) = pair.parameter, names.insert(name).inserted else { return nil }
            if name == "for" { found = IPAddress(node: value) }
        }
        return found
    }
}

extension IPAddress {
    /// The address of a node of `Forwarded` and `X-Forwarded-For` (RFC 7239 §6), with brackets if it is IPv6, and an
    /// optional port. Nil for `unknown`, for obfuscated identifiers such as `_gazonk`, and for malformed text.
    init?(node text: String) {
        guard let address = Self.bracketed(text) ?? Self.dotted(text) else { return nil }
        self = address.unmapped
    }

    private static func bracketed(_ text: String) -> IPAddress? {
        guard text.first == "[", let end = text.firstIndex(of: "]"), isPort(text[text.index(after: end)...]),
            case .v6(let value)? = IPAddress(String(text[text.index(after: text.startIndex)..<end]))
        else { return nil }
        return .v6(value)
    }

    private static func dotted(_ text: String) -> IPAddress? {
        let host = text.prefix { $0 != ":" }
        guard isPort(text[host.endIndex...]), case .v4(let value)? = IPAddress(String(host)) else { return nil }
        return .v4(value)
    }

    /// Whether the text is empty, or a colon and a port: up to five digits, or an obfuscated name.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.first else { return true }
        let port = text.dropFirst()
        guard colon == ":", !port.isEmpty else { return false }
        if port.first == "_" {
            return port.count > 1 && port.dropFirst().utf8.allSatisfy(\.isPlainNameCharacter)
        }
        return port.utf8.count <= 5 && port.utf8.allSatisfy(\.isASCIIDigit)
    }
}

/// How the client reached the proxy in front, as that proxy states it.
package struct ForwardedOrigin: Hashable, Sendable {
    /// `http` or `https`; nil if the proxy does not state it.
    package let scheme: String?
    /// A host with an optional port; nil if the proxy does not state it, because it passes on `Host`.
    package let host: String?
}

extension RequestHead {
    /// What a trusted proxy states in `Forwarded` (RFC 7239), or in `X-Forwarded-Proto` and `X-Forwarded-Host`; nil for
    /// other peers, and where it states neither scheme nor host.
    ///
    /// The last element of each field counts: the peer wrote it, and the client may have written the others. Fields
    /// that contradict each other do not count, because a proxy that writes only one would pass on a forged other one.
    package var forwardedOrigin: ForwardedOrigin? {
        guard isFromTrustedProxy else { return nil }
        let parameters = Self.parameters(ofLastIn: self[.forwarded] ?? "")
        let schemes = [parameters["proto"], last(.xForwardedProto)].compactMap { $0?.lowercased() }
        let hosts = [parameters["host"], last(.xForwardedHost)].compactMap(\.self)
        let isConsistent = Set(schemes).count <= 1 && Set(hosts).count <= 1
        let origin = ForwardedOrigin(
            scheme: schemes.first { ["http", "https"].contains($0) },
            host: hosts.first { !$0.isEmpty && $0.utf8.allSatisfy(\.isHostCharacter) })
        return isConsistent && (origin.scheme != nil || origin.host != nil) ? origin : nil
    }

    private func last(_ name: HTTPField.Name) -> String? {
        self[name].flatMap { $0.split(separator: ",").last }.map { String($0.trimmingBlanks) }
    }

    private static func parameters(ofLastIn line: String) -> [String: String] {
        let elements = FieldList(line)
        guard !elements.hasUnclosedQuote, let last = elements.members.last(where: { !$0.isEmpty }) else { return [:] }
        let pairs = FieldList(last, separator: UInt8(ascii: ";"))
        guard !pairs.hasUnclosedQuote else { return [:] }
        return Dictionary(
            pairs.members.compactMap { pair in pair.parameter.map { ($0.name, $0.value) } }, uniquingKeysWith: { $1 })
    }
}

extension UInt8 {
    /// Whether a byte may be part of a host and port as a URI spells them (RFC 3986 §3.2.2).
    package var isHostCharacter: Bool { isURLUnreserved || self == UInt8(ascii: ":") || self == 0x5b || self == 0x5d }
}

extension HTTPField.Name {
    fileprivate static let xForwardedHost = known("X-Forwarded-Host")
    fileprivate static let xForwardedProto = known("X-Forwarded-Proto")
}
