import DarkroomNetwork
import HTTPTypes

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
    /// The last element of each field counts: the peer wrote it, and the client may have written those before. Fields
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
