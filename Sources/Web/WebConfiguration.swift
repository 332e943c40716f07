package import DarkroomQuery
package import Foundation

/// What the HTTP shell needs to know.
package struct WebConfiguration: Sendable {
    /// The address to listen on: a name or an IP address.
    package var host: String
    /// 0 = any free port.
    package var port: Int
    /// The address of the port for administration.
    package var adminHost: String
    /// A port for administration alone, which the other one then does not answer: 0 = any free port; nil = there is none.
    package var adminPort: Int?
    /// The longest that a client may use an answer from when it gets it.
    package var variantMaxAge: Duration
    /// Whether `maxage` may give clients more time than the origin does.
    package var allowLongerMaxAge: Bool
    /// Whether anybody may have the origin asked although there is a fresh answer.
    package var allowForcedRefresh: Bool
    /// Whether `/info` tells anybody where a picture was taken.
    package var allowGPS: Bool
    /// Lets its bearer use what is for administration, and have the origin asked; nil = nobody, but at `adminPort` everybody
    /// may do the former.
    package var adminToken: String?
    /// The status of answers with a fallback picture: 200…599, one that may have a body.
    package var fallbackStatus: Int
    /// What stands before the paths of addresses that are given out, without a slash at its end; nil = nothing: they are relative.
    package var publicURL: String?
    /// Our own name in `Via` fields: a request that carries it has come through here already.
    package var viaPseudonym: String
    /// What queries may ask for.
    package var limits: QueryLimits
    /// Bytes of a source that are downloaded.
    package var maxSourceBytes: Int
    /// Who clients are, and what each of them may do.
    package var visitors: Visitors
    /// Who may ask for what.
    package var access: Access
    /// Tells the time that signatures expire by.
    package var now: @Sendable () -> Date = { Date() }

    /// Every default is that of the command line.
    package init(
        host: String = "127.0.0.1", port: Int = 8080, adminHost: String = "127.0.0.1", adminPort: Int? = nil,
        variantMaxAge: Duration = .seconds(365 * 86_400),
        allowLongerMaxAge: Bool = false, allowForcedRefresh: Bool = false, allowGPS: Bool = false,
        adminToken: String? = nil, fallbackStatus: Int = 200, publicURL: String? = nil,
        viaPseudonym: String = "darkroom", limits: QueryLimits = QueryLimits(), maxSourceBytes: Int = 50 << 20,
        visitors: Visitors = Visitors(), access: Access = Access()
    ) {
        self.host = host
        self.port = port
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
        self.visitors = visitors
        self.access = access
    }
}
