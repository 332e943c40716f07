import Foundation

/// A cache in front of this server, or a webhook, that receives purges.
package struct EdgeDestination: Hashable, Sendable {
    package enum Vendor: String, CaseIterable, Sendable { case cloudflare, fastly, bunny, varnish, nginx, webhook }

    package let vendor: Vendor
    /// The zone, service or pull zone; empty for other vendors.
    package let account: String
    /// The base URL of the vendor's API, without a slash at the end, or else the URL of the edge itself.
    package let url: String
    /// The file with the token, or with the secret of a webhook's signature; nil without one.
    package let secretFile: String?
    /// Whether Varnish gets `BAN` in place of `PURGE`.
    package let bans: Bool
    /// The name in answers, metrics and logs. It contains no secrets: only the host and port of a URL.
    package let name: String

    /// - Parameters:
    ///   - url: nil = the vendor's API.
    ///   - number: distinguishes destinations that would have the same name; 1 for the first.
    package init(
        _ vendor: Vendor, account: String = "", url: String? = nil, secretFile: String? = nil, bans: Bool = false,
        number: Int = 1
    ) {
        self.vendor = vendor
        self.account = account
        self.url = url ?? vendor.interface
        self.secretFile = secretFile
        self.bans = bans
        let place = account.isEmpty ? Self.authority(of: self.url) : account
        name = "\(vendor):\(place)" + (number > 1 ? "#\(number)" : "")
    }

    private static func authority(of url: String) -> String {
        let rest = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let authority = rest.prefix { !"/?#".contains($0) }
        return String(authority.split(separator: "@").last ?? "")
    }
}
