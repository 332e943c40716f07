/// What is signed of a request: its path and its parameters as they were read, so that whoever signs and whoever answers see the same.
struct SignedRequest: Hashable, Sendable {
    let path: String
    /// All but `s`, each once.
    let parameters: QueryString

    /// One text for all spellings of the request: a line for the version of these rules, one for the path, and the ``query``.
    var text: String { "darkroom 1\n\(path)\n\(query)" }

    /// Sorted by the bytes of the names.
    var query: String {
        QueryString(
            pairs: parameters.pairs.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        ).text
    }
}
