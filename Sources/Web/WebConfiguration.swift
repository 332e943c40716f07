/// What the HTTP shell needs to know.
package struct WebConfiguration: Sendable {
    /// The address to listen on: a name or an IP address.
    package var host: String
    /// 0 = any free port.
    package var port: Int
    /// Freshness that clients are given where a query does not ask for another.
    package var variantMaxAge: Duration
    /// Our own name in `Via` fields: a request that carries it has come through here already.
    package var viaPseudonym: String
    /// What queries may ask for.
    package var limits: GrammarLimits

    /// Every default is that of the command line.
    package init(
        host: String = "127.0.0.1", port: Int = 8080, variantMaxAge: Duration = .seconds(86_400),
        viaPseudonym: String = "darkroom", limits: GrammarLimits = GrammarLimits()
    ) {
        self.host = host
        self.port = port
        self.variantMaxAge = variantMaxAge
        self.viaPseudonym = viaPseudonym
        self.limits = limits
    }
}
