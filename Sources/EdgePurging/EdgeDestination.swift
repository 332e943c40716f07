import Dispatch
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

/// Reads the files with tokens and secrets, once for each request, so that a new token takes effect at once.
struct EdgeSecrets: Sendable {
    private static let maxBytes = 8 << 10

    /// Runs blocking calls.
    private let thread = DispatchQueue(label: "darkroom.edge-secrets")

    /// The text of a destination's file, without white space at both ends; empty without a file.
    func secret(of destination: EdgeDestination) async throws(EdgeTransportFailure) -> String {
        guard let path = destination.secretFile else { return "" }
        let text = await withCheckedContinuation { continuation in
            thread.async { continuation.resume(returning: Self.text(ofFile: path)) }
        }
        guard let text else { throw EdgeTransportFailure(reason: "the file with its token cannot be read") }
        guard destination.flaw(ofSecret: text) == nil else {
            throw EdgeTransportFailure(reason: "the file with its token has no token")
        }
        return text
    }

    private static func text(ofFile path: String) -> String? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: maxBytes) else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
