package import DarkroomHTTPServer
package import DarkroomQuery

/// Access control: signing keys, presets and cross-origin sharing.
package struct Access: Hashable, Sendable {
    /// Where there are any, image requests must be signed with one, or carry the admin token. Their IDs are unique.
    package var signingKeys: [SigningKey] = []
    /// The rates that keys have of their own, by key ID: how often their signatures may be used, all clients together.
    package var keyRates: [String: Rate] = [:]
    /// The quotas of keys, by key ID.
    package var keyQuotas: [String: KeyQuotas] = [:]
    /// The presets of this server.
    package var presets = Presets()
    /// Whether images are made with presets only.
    package var presetsOnly = false
    /// The sites whose scripts may read responses.
    package var origins = CORSPolicy.none

    /// The client that a request counts for: the key that signed it if that has a rate of its own, else the address.
    func client(of key: SigningKey?, address: @autoclosure () -> String) -> String {
        if let key, keyRates[key.id] != nil { return "key \(key.id)" }
        return address()
    }

    /// Everything is allowed to everyone.
    package init() {}
}
