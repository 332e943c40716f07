/// The names of the parameters of all endpoints.
package enum ParameterNames {
    package static let all: [String] = {
        var names = ExplainGrammar(limits: QueryLimits()).table.parameters.flatMap { [$0.name] + $0.aliases }
        names += SrcsetGrammar().table.parameters.map(\.name)
        names += AccessParameters.table.parameters.map(\.name)
        names += PurgeParameters.rows.map(\.name)
        return names
    }()
}
