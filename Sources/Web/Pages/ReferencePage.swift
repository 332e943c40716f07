import DarkroomHTTPServer
import Foundation
import Yams

/// The contract as a page that people read, also without scripts.
struct ReferencePage {
    private let contract: Node

    /// - Throws: where the YAML is malformed.
    init(yaml: some Sequence<UInt8>) throws {
        contract = try Yams.compose(yaml: String(decoding: Array(yaml), as: UTF8.self)) ?? Node("")
    }

    var page: HTMLPage {
        let operations = operations
        let index = operations.map { "<li><a href=\"#\($0.anchor)\"><code>\($0.title)</code></a> \($0.summary)</li>" }
        return HTMLPage(
            title: "API reference",
            body: """
                <p>This page shows the contract, which is also available as <a href="openapi.yaml">YAML</a> and \
                <a href="openapi.json">JSON</a>. <a href="./">The playground</a> tries it out, and \
                <a href="problems">every problem</a> has a page.</p>
                \(Self.paragraphs(contract["info"]?["description"]))
                <ul>
                \(index.joined(separator: "\n"))
                </ul>
                \(operations.map(section).joined(separator: "\n"))
                <h2 id="parameters">Parameters</h2>
                <dl>
                \(parameters)
                </dl>
                """, navigation: navigation(operations), script: Self.filter)
    }

    /// Adds a field to the side bar, which leaves paths and parameters with all its words in their descriptions.
    private static let filter = """
        const field = Object.assign(document.createElement("input"), { type: "search", placeholder: "Filter" });
        field.setAttribute("aria-label", "Filter paths and parameters");
        document.querySelector("nav").prepend(field);
        const items = [...document.querySelectorAll("nav li")].map((item) => {
          const target = document.getElementById(item.firstChild.hash.slice(1));
          return { item, text: `${target.textContent} ${target.nextElementSibling.textContent}`.toLowerCase() };
        });
        field.addEventListener("input", () => {
          const words = field.value.toLowerCase().split(/\\s+/);
          for (const { item, text } of items) item.hidden = !words.every((word) => text.includes(word));
        });
        """

    /// Links to all operations and parameters, with parameters by their names.
    private func navigation(_ operations: [Operation]) -> String {
        let paths = operations.map { "<li><a href=\"#\($0.anchor)\">\($0.title)</a></li>" }
        let names = (contract["components"]?["parameters"]?.mapping ?? [:]).map { key, node in
            (name: (node["name"]?.string ?? "").htmlEscaped, anchor: (key.string ?? "").htmlEscaped)
        }.sorted { ($0.name.lowercased(), $0.anchor) < ($1.name.lowercased(), $1.anchor) }
        let links = names.map { "<li><a href=\"#parameter-\($0.anchor)\">\($0.name)</a></li>" }
        return """
            <details open><summary>Paths</summary><ul>\(paths.joined())</ul></details>
            <details open><summary>Parameters</summary><ul>\(links.joined())</ul></details>
            """
    }

    // MARK: - Operations

    private struct Operation {
        var method: String
        var path: String
        var node: Node

        var title: String { "\(method.uppercased()) \(path.htmlEscaped)" }
        var anchor: String { (node["operationId"]?.string ?? path).htmlEscaped }
        var summary: String { ReferencePage.inline(node["summary"]?.string ?? "") }
    }

    private var operations: [Operation] {
        (contract["paths"]?.mapping ?? [:]).flatMap { path, item in
            ["get", "post", "put", "delete"].compactMap { method in
                item[method].map { Operation(method: method, path: path.string ?? "", node: $0) }
            }
        }
    }

    private func section(_ operation: Operation) -> String {
        let parameters = operation.node["parameters"]?.sequence.map { list in
            "<p>Parameters: \(list.map(mention).joined(separator: ", "))</p>"
        }
        let responses = (operation.node["responses"]?.mapping ?? [:]).map { status, response in
            let description = Self.inline(dereferenced(response)["description"]?.string ?? "")
            return "<li><code>\(status.string ?? "")</code> \(description)</li>"
        }
        return """
            <h2 id="\(operation.anchor)"><code>\(operation.title)</code></h2>
            <p>\(operation.summary).</p>
            \(Self.paragraphs(operation.node["description"]))
            \(parameters ?? "")
            <ul>
            \(responses.joined(separator: "\n"))
            </ul>
            """
    }

    /// A shared parameter as a link to its description; a parameter of a single operation with its description.
    private func mention(_ parameter: Node) -> String {
        let node = dereferenced(parameter)
        let name = (node["name"]?.string ?? "").htmlEscaped
        if let key = parameter["$ref"]?.string?.split(separator: "/").last {
            return "<a href=\"#parameter-\(String(key).htmlEscaped)\"><code>\(name)</code></a>"
        }
        return "<code>\(name)</code> (\(Self.inline(node["description"]?.string ?? "")))"
    }

    // MARK: - Parameters

    private var parameters: String {
        (contract["components"]?["parameters"]?.mapping ?? [:]).map { key, node in
            let name = (node["name"]?.string ?? "").htmlEscaped
            return """
                <dt id="parameter-\((key.string ?? "").htmlEscaped)"><code>\(name)</code> \
                \(values(node["schema"]))</dt>
                <dd>\(Self.paragraphs(node["description"]))</dd>
                """
        }.joined(separator: "\n")
    }

    private func values(_ schema: Node?) -> String {
        guard let schema = schema.map(dereferenced) else { return "" }
        var parts: [String] = []
        if let choices = schema["enum"]?.sequence { parts.append(choices.compactMap(\.string).joined(separator: ", ")) }
        if parts.isEmpty, let type = schema["type"]?.string { parts.append(type) }
        if let least = schema["minimum"]?.string, let most = schema["maximum"]?.string {
            parts.append("from \(least) to \(most)")
        }
        if let rest = schema["default"]?.string { parts.append("default \(rest)") }
        return parts.joined(separator: ", ").htmlEscaped
    }

    // MARK: - Text

    /// The node that a reference leads to.
    private func dereferenced(_ node: Node) -> Node {
        guard let reference = node["$ref"]?.string, reference.hasPrefix("#/") else { return node }
        return reference.dropFirst(2).split(separator: "/").reduce(contract) { $0[String($1)] ?? Node("") }
    }

    private static func paragraphs(_ text: Node?) -> String {
        (text?.string ?? "").split(separator: "\n\n").map { "<p>\(inline(String($0)))</p>" }.joined(separator: "\n")
    }

    /// Text with code between backticks, the only markup of the contract's descriptions.
    private static func inline(_ text: String) -> String {
        let parts = text.htmlEscaped.split(separator: "`", omittingEmptySubsequences: false)
        guard parts.count % 2 == 1 else { return parts.joined(separator: "`") }
        return parts.enumerated().map { $0 % 2 == 1 ? "<code>\($1)</code>" : String($1) }.joined()
    }
}
