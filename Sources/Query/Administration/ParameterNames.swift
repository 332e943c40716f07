/// The names of the parameters of all endpoints, including the names of wsrv.nl.
package enum ParameterNames {
    package static let all: [String] = {
        var names = ExplainGrammar(limits: QueryLimits()).table.parameters.flatMap { [$0.name] + $0.aliases }
        names += SrcsetGrammar().table.parameters.map(\.name)
        names += AccessParameters.table.parameters.map(\.name)
        names += PurgeParameters.rows.map(\.name)
        names += WsrvTable.names
        // `/explain` reads it before its grammar.
        return names + ["path"]
    }()
}
