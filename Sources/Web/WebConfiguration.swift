package import DarkroomHTTPServer
package import DarkroomQuery
package import Foundation

/// The configuration of the endpoints and listeners.
package struct WebConfiguration: Sendable {
    /// The bind address of the main listener: a host name or an IP address.
    package var host: String
    /// The port of the main listener; 0 = any free port.
    package var port: Int
    /// The path of a Unix socket that the main listener binds instead; nil = none.
    package var unixSocket: String?
    /// The bind address of the admin listener.
    package var adminHost: String
    /// The port of a listener for administration, which the main listener then does not serve. 0 = any free port; nil =
    /// no such listener.
    package var adminPort: Int?
    /// The maximum lifetime that `Cache-Control` grants to clients.
    package var variantMaxAge: Duration
    /// Whether `maxage` may exceed the lifetime that the origin grants.
    package var allowLongerMaxAge: Bool
    /// Whether all clients may force contact with the origin although a fresh response is cached.
    package var allowForcedRefresh: Bool
    /// Whether `/info` discloses GPS positions.
    package var allowGPS: Bool
    /// The bearer token for administration and forced refresh. When nil, only an admin listener serves administration,
    /// without authentication.
    package var adminToken: String?
    /// The status of responses with a fallback image: 200…599, one that may have a body.
    package var fallbackStatus: Int
    /// The prefix of URLs that the server hands out, without a trailing slash; nil = URLs are relative.
    package var publicURL: String?
    /// This server's pseudonym in `Via`. A request that has it already passed through this server.
    package var viaPseudonym: String
    /// The limits of query parameters.
    package var limits: QueryLimits
    /// The maximum size of a source in bytes.
    package var maxSourceBytes: Int
    /// The identity of clients, and the limits for each.
    package var clientLimits: ClientLimits
    /// The access control of image requests.
    package var access: Access
    /// The clock for the expiry of signatures.
    package var now: @Sendable () -> Date = { Date() }

    /// Creates a configuration with the same defaults as the command line.
    package init(
        host: String = "127.0.0.1", port: Int = 8080, unixSocket: String? = nil, adminHost: String = "127.0.0.1",
        adminPort: Int? = nil,
        variantMaxAge: Duration = .seconds(365 * 86_400),
        allowLongerMaxAge: Bool = false, allowForcedRefresh: Bool = false, allowGPS: Bool = false,
        adminToken: String? = nil, fallbackStatus: Int = 200, publicURL: String? = nil,
        viaPseudonym: String = "darkroom", limits: QueryLimits = QueryLimits(), maxSourceBytes: Int = 50 << 20,
        clientLimits: ClientLimits = ClientLimits(), access: Access = Access()
    ) {
        self.host = host
        self.port = port
        self.unixSocket = unixSocket
        self.adminHost = adminHost
        self.adminPort = adminPort
        self.variantMaxAge = variantMaxAge
        self.allowLongerMaxAge = allowLongerMaxAge
        self.allowForcedRefresh = allowForcedRefresh
        self.allowGPS = allowGPS
        self.adminToken = adminToken
        self.fallbackStatus = fallbackStatus
        self.publicURL = publicURL
        self.viaPseudonym = viaPseudonym
        self.limits = limits
        self.maxSourceBytes = maxSourceBytes
        self.clientLimits = clientLimits
        self.access = access
    }
}
