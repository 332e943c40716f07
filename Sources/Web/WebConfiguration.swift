/// What the HTTP shell needs to know.
package struct WebConfiguration: Sendable {
    /// The address to listen on: a name or an IP address.
    package var host: String
    /// 0 = any free port.
    package var port: Int
    /// The longest that a client may use an answer from when it gets it.
    package var variantMaxAge: Duration
    /// Whether `maxage` may give clients more time than the origin does.
    package var allowLongerMaxAge: Bool
    /// Whether anybody may have the origin asked although there is a fresh answer.
    package var allowForcedRefresh: Bool
    /// Lets its bearer purge, and have the origin asked; nil = nobody.
    package var adminToken: String?
    /// The status of answers with a fallback picture: 200…599, one that may have a body.
    package var fallbackStatus: Int
    /// Our own name in `Via` fields: a request that carries it has come through here already.
    package var viaPseudonym: String
    /// What queries may ask for.
    package var limits: GrammarLimits
    /// Bytes of a source that are downloaded.
    package var maxSourceBytes: Int

    /// Every default is that of the command line.
    package init(
        host: String = "127.0.0.1", port: Int = 8080, variantMaxAge: Duration = .seconds(365 * 86_400),
        allowLongerMaxAge: Bool = false, allowForcedRefresh: Bool = false, adminToken: String? = nil,
        fallbackStatus: Int = 200, viaPseudonym: String = "darkroom", limits: GrammarLimits = GrammarLimits(),
        maxSourceBytes: Int = 50 << 20
    ) {
        self.host = host
        self.port = port
        self.variantMaxAge = variantMaxAge
        self.allowLongerMaxAge = allowLongerMaxAge
        self.allowForcedRefresh = allowForcedRefresh
        self.adminToken = adminToken
        self.fallbackStatus = fallbackStatus
        self.viaPseudonym = viaPseudonym
        self.limits = limits
        self.maxSourceBytes = maxSourceBytes
    }
}
