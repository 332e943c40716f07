import DarkroomNetwork
import DarkroomOrigin

/// Who takes part in forwarding a request, as `Forwarded` and `X-Forwarded-For` write it (RFC 7239 §6): an address, in brackets where it
/// is one of IPv6, and perhaps a port.
struct NodeName {
    let address: IPAddress

    /// Nil for `unknown`, for names that hide who it is, such as `_gazonk`, and for anything malformed.
    init?(_ text: some StringProtocol) {
        guard let address = Self.bracketed(String(text)) ?? Self.dotted(String(text)) else { return nil }
        self.address = address.unmapped
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

    /// Nothing, or a colon and a port: up to five digits, or a name that hides it.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.first else { return true }
        let port = text.dropFirst()
        guard colon == ":", !port.isEmpty else { return false }
        if port.first == "_" {
            let hidden = port.dropFirst().utf8
            return !hidden.isEmpty && hidden.allSatisfy(\.isPlainNameCharacter)
        }
        return port.utf8.count <= 5 && port.utf8.allSatisfy(\.isASCIIDigit)
    }
}

extension IPAddress {
    /// The IPv4 address that a socket of both families calls `::ffff:a.b.c.d`; any other as it is.
    var unmapped: IPAddress { mappedIPv4 ?? self }

    /// What a client is known by: the address, or for IPv6 its network of 64 bits, since one customer has that many addresses.
    var clientName: String {
        switch self {
        case .v4: description
        case .v6(let value): "\(IPAddress.v6(value & UInt128.max << 64))/64"
        }
    }
}
