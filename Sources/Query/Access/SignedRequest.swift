/// What a signature covers: a path and its percent-decoded parameters, so that signer and server see the same request.
package struct SignedRequest: Hashable, Sendable {
    package let path: String
    /// All parameters but `s`, each once.
    package let parameters: QueryString

    package init(path: String, parameters: QueryString) {
        self.path = path
        self.parameters = parameters
    }

    /// The signed text, one for all spellings of the request: a line for the version of these rules, one for the path, and ``query``.
    package var text: String { "darkroom 1\n\(path)\n\(query)" }

    /// The parameters in one spelling, sorted by the bytes of their names.
    package var query: String {
        QueryString(
            pairs: parameters.pairs.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        ).text
    }
}
