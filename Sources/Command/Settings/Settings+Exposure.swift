import DarkroomNetwork
import DarkroomOrigin
import DarkroomWeb

extension Settings {
    /// Stops a server that everybody on a network could use for whatever they like, unless that was said in so many words.
    func checkExposure(_ layers: SettingLayers) throws(SettingError) {
        guard Self.isLoopback(host) || !access.signingKeys.isEmpty || limitsHosts || openProxy else {
            throw SettingError(
                "\(layers.spelling(.host)): at \(host) everybody who reaches this server could have it ask any public host. "
                    + "Set signing-keys, so that requests have to be signed, or allow-hosts, so that only those are asked, or "
                    + "open-proxy=true, if that is what you want; or listen on 127.0.0.1.")
        }
        guard adminPort == nil || adminToken != nil || Self.isLoopback(adminHost) else {
            throw SettingError(
                "\(layers.spelling(.adminHost)): at \(adminHost) everybody who reaches admin-port could empty the caches. "
                    + "Set admin-token, or have admin-host at 127.0.0.1.")
        }
    }

    private var limitsHosts: Bool {
        !allowHosts.isEmpty && !allowHosts.contains { pattern in pattern.allSatisfy { $0 == "*" } }
    }

    /// Whether only this machine can reach the address.
    private static func isLoopback(_ host: String) -> Bool {
        switch IPAddress(host) {
        case .v4(let address): address >> 24 == 127
        case .v6(let address): address == 1
        case nil: host.lowercased() == "localhost"
        }
    }
}
