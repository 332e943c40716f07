import HTTPTypes
import Hummingbird

/// A route that answers only what a ``Permit`` allows. ``Permits`` makes a route of it; there is no other way to one.
struct AuthorizedRoute: Sendable {
    /// What presets mean there.
    enum Presets: Sendable {
        /// `preset` is taken, and needed where pictures are made by presets alone.
        case taken
        /// There are no presets for it, and nothing that one could stand for.
        case needless
        /// There are none for it, so that it is closed where pictures are made by presets alone.
        case missing
    }

    let path: String
    /// The path that signatures are made for.
    let signedPath: String
    let presets: Presets
    /// Gives the parameters as they were sent.
    let query: @Sendable (Request, ServerRequestContext) throws(Problem) -> QueryString
    var respond: @Sendable (Request, ServerRequestContext, Permit) async throws(Problem) -> Response

    /// Parameters are in the query of the target.
    init(
        _ path: String, presets: Presets,
        respond: @escaping @Sendable (Request, ServerRequestContext, Permit) async throws(Problem) -> Response
    ) {
        self.init(
            path, signedAs: path, presets: presets,
            query: { request, _ throws(Problem) in try QueryString.reading(request.uri.query ?? "") },
            respond: respond)
    }

    /// Parameters are elsewhere.
    init(
        _ path: String, signedAs signedPath: String, presets: Presets,
        query: @escaping @Sendable (Request, ServerRequestContext) throws(Problem) -> QueryString,
        respond: @escaping @Sendable (Request, ServerRequestContext, Permit) async throws(Problem) -> Response
    ) {
        self.path = path
        self.signedPath = signedPath
        self.presets = presets
        self.query = query
        self.respond = respond
    }
}

extension QueryString {
    /// Reads a query as received.
    static func reading(_ text: String) throws(Problem) -> QueryString {
        do throws(InvalidParameter) { return try QueryString(parsing: text) } catch { throw Problem(error) }
    }
}
