/// Writes down where a picture is: each address of a picture that is given out is made here.
struct PictureAddress: Sendable {
    /// What stands before the path; empty = addresses are relative to the server.
    private let prefix: String
    private let limits: GrammarLimits

    init(_ configuration: WebConfiguration) {
        prefix = configuration.publicURL ?? ""
        limits = configuration.limits
    }

    /// Letters, digits and what an address needs, of which HTML takes all but `&` as it is.
    func callAsFunction(_ query: ImageQuery) -> String {
        "\(prefix)/image?\(CanonicalQuery(query, limits: limits).text)"
    }
}
