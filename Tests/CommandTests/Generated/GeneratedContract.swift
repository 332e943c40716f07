import HTTPTypes

@testable import DarkroomHTTPServer
@testable import DarkroomQuery
@testable import DarkroomWeb

/// `openapi.yaml` with what the tables of parameters and problems say: the lists of parameters and of statuses, the
/// parameters of queries except for their descriptions and examples, and types, titles and statuses of problems. A new
/// parameter or problem is described by the sentence of its row until somebody writes more.
struct GeneratedContract {
    private var document: YAMLBlocks

    static func text(from committed: String) throws -> String {
        var contract = GeneratedContract(document: YAMLBlocks(committed))
        try contract.writeParameters()
        try contract.writeStatuses()
        try contract.writeProblems()
        return contract.document.text
    }

    // MARK: Parameters

    /// What the contract says of a row. Equal rows of several tables are one component.
    private struct Row: Hashable {
        let name: String
        let schema: ValueSchema
        let allowsBareName: Bool
        let defaultText: String?
        let summary: String

        /// The rows of a table.
        static func all<Draft: Sendable>(_ table: ParameterTable<Draft>) -> [Row] {
            table.parameters.map { parameter in
                Row(
                    name: parameter.name, schema: parameter.schema, allowsBareName: parameter.allowsBareName,
                    defaultText: parameter.defaultText, summary: parameter.documentation.summary)
            }
        }
    }

    /// The operations whose queries have tables. The first word of a component's name tells apart rows of one name.
    private static var operations: [(path: String, method: String, word: String, rows: [Row])] {
        let access = Row.all(AccessParameters.table)
        let signature = access.filter { $0.name != "preset" }
        return [
            ("/image", "get", "image", Row.all(ImageQueryGrammar().table) + access),
            ("/image", "post", "upload", Row.all(ImageQueryGrammar.upload().table) + access),
            ("/info", "get", "info", Row.all(ImageQueryGrammar.info().table) + signature),
            ("/explain", "get", "explain", Row.all(ExplainGrammar(limits: QueryLimits()).table) + access),
            ("/srcset", "get", "srcset", Row.all(SrcsetGrammar().table) + signature),
            ("/cache", "delete", "purge", Row.all(PurgeGrammar().table)),
            ("/cache/entries", "get", "entries", Row.all(EntriesGrammar().table)),
        ]
    }

    private mutating func writeParameters() throws {
        let path = ["components", "parameters"]
        var names: [Row: String] = [:]
        var components: [String] = []
        for operation in Self.operations {
            for row in operation.rows where names[row] == nil {
                let isTaken = names.values.contains(row.name)
                let name = isTaken ? operation.word + row.name.prefix(1).uppercased() + row.name.dropFirst() : row.name
                names[row] = name
                components += try component(name, row)
            }
            let list = operation.rows.map { "        - $ref: \"#/components/parameters/\(names[$0] ?? $0.name)\"" }
            try document.replace(["paths", operation.path, operation.method, "parameters"], with: list)
        }
        let inPaths = document.children(of: path).filter { $0.lines.contains("      in: path") }
        try document.replace(path, with: components + inPaths.flatMap(\.lines))
    }

    private mutating func component(_ name: String, _ row: Row) throws -> [String] {
        let path = ["components", "parameters", name]
        var lines = ["    \(name):", "      name: \(row.name)", "      in: query"]
        if row.summary.hasSuffix("Required.") { lines.append("      required: true") }
        if row.allowsBareName { lines.append("      allowEmptyValue: true") }
        lines += document.child("description", of: path) ?? ["      description: \(YAMLText.prose(row.summary))"]
        let schema = document.child("schema", of: path) ?? []
        if let reference = schema.first?.firstMatch(of: /components\/schemas\/(\w+)/) {
            try writeEnumeration(String(reference.output.1), row)
            lines += schema
        } else {
            lines += Self.schema(of: row)
        }
        let example = YAMLText.example(of: row.schema).map { ["      example: \($0)"] }
        return lines + (document.child("example", of: path) ?? example ?? [])
    }

    /// Updates a schema with a name of its own, after which generated clients name their type.
    private mutating func writeEnumeration(_ name: String, _ row: Row) throws {
        let path = ["components", "schemas", name]
        let members = YAMLText.members(of: row.schema, defaultText: row.defaultText)
        let facts = members.filter { ["enum", "default"].contains($0.key) }.map { "      \($0.key): \($0.value)" }
        let lines = document.children(of: path).filter { $0.key != "default" }.flatMap { key, lines in
            key == "enum" ? facts : lines
        }
        try document.replace(path, with: lines)
    }

    /// On one line if it fits.
    private static func schema(of row: Row) -> [String] {
        var members = YAMLText.members(of: row.schema, defaultText: row.defaultText)
        let line = "      schema: \(YAMLText.flow(members))"
        let alternatives = YAMLText.alternatives(of: row.schema).map { "          - \(YAMLText.flow($0))" }
        guard line.count > 120 || !alternatives.isEmpty else { return [line] }
        members.removeAll { $0.key == "anyOf" }
        return ["      schema:"] + (alternatives.isEmpty ? [] : ["        anyOf:"]) + alternatives
            + members.map { "        \($0.key): \($0.value)" }
    }

    // MARK: Problems

    /// The problems that a request for an image may have.
    private static let ofImages = ProblemKind.all.filter { $0 != .methodNotAllowed && $0 != .adminTokenWrong }

    /// An operation that contacts origins may answer with the statuses of all problems of images.
    private mutating func writeStatuses() throws {
        let usual = document.children(of: ["paths", "/image", "get", "responses"])
        let statuses = Set(Self.ofImages.map { "\"\($0.status.code)\"" })
        for path in document.children(of: ["paths"]).map(\.key) {
            for method in document.children(of: ["paths", path]).map(\.key) {
                let responses = document.children(of: ["paths", path, method, "responses"])
                guard responses.contains(where: { $0.key == "\"502\"" }) else { continue }
                let own = responses.map(\.key).filter { $0 < "\"400\"" }
                let lines = statuses.union(own).sorted().flatMap { status in
                    (responses + usual).first { $0.key == status }?.lines ?? Self.response(status)
                }
                try document.replace(["paths", path, method, "responses"], with: lines)
            }
        }
    }

    private static func response(_ status: String) -> [String] {
        let kind = ofImages.first { "\"\($0.status.code)\"" == status }
        let name = kind?.status.reasonPhrase.filter { $0 != " " } ?? ""
        return ["        \(status): { $ref: \"#/components/responses/\(name)\" }"]
    }

    private mutating func writeProblems() throws {
        let type = ["components", "schemas", "Problem", "properties", "type"]
        try document.replace(type + ["enum"], with: ProblemKind.all.map { "            - \($0.type)" })
        // Generated clients name the constants so.
        let names = ProblemKind.all.map { "            - \($0.slug.replacing("-", with: "_"))" }
        try document.replace(type + ["x-enum-varnames"], with: names)
        var described: Set<ProblemKind> = []
        for (index, line) in document.lines.enumerated() {
            guard let match = line.wholeMatch(of: /( +)type: \/problems\/([a-z-]+)/),
                document.lines[index + 1].hasPrefix("\(match.output.1)title: "),
                let kind = ProblemKind.all.first(where: { $0.slug == match.output.2 })
            else { continue }
            described.insert(kind)
            document.replaceLine(index + 1, with: "\(match.output.1)title: \(YAMLText.prose(kind.title))")
            document.replaceLine(index + 2, with: "\(match.output.1)status: \(kind.status.code)")
        }
        for kind in ProblemKind.all where !described.contains(kind) { try addExample(of: kind) }
    }

    /// Adds an example to the response to `/image` of that status.
    private mutating func addExample(of kind: ProblemKind) throws {
        let status = document.child("\"\(kind.status.code)\"", of: ["paths", "/image", "get", "responses"])
        let name = status?.first?.firstMatch(of: /responses\/(\w+)/).map { String($0.output.1) } ?? ""
        let path = ["components", "responses", name, "content", "application/problem+json", "examples"]
        let example = [
            "            \(kind.slug):", "              value:", "                type: \(kind.type)",
            "                title: \(YAMLText.prose(kind.title))", "                status: \(kind.status.code)",
            "                detail: \(YAMLText.prose(kind.cause))",
            "                instance: urn:request:3f2a91c0d4e57b680000000000000001",
        ]
        try document.replace(path, with: Array(document.lines(of: path)) + example)
    }
}
