import DarkroomDialects
import DarkroomQuery
import DarkroomRequests
import DarkroomTransforms

extension PathDialect {
    /// The query of a path as text, decoded.
    func text(_ path: String) throws -> String {
        try translate(path[...], limits: QueryLimits()).query.pairs.map { pair in
            "\(pair.name)=\(pair.value ?? "")"
        }.joined(separator: "&")
    }

    /// The image that a path asks for, as `/image` reads it.
    func image(_ path: String, limits: QueryLimits = QueryLimits()) throws -> ImageQuery {
        try ImageQueryGrammar(limits: limits).parse(translate(path[...], limits: limits).query)
    }

    /// The size of the result for a source of this size, without decoding anything.
    func size(_ path: String, of source: PixelSize, orientation: Int = 1) throws -> PixelSize {
        let chain = TransformChain(try image(path).recipe)
        return try chain.plan(ChainPlan(source: source, orientation: orientation)).size
    }

    /// The sentence with which a path is refused; nil if it is not.
    func refusal(_ path: String) -> String? {
        do throws(AuthorizationError) {
            _ = try translate(path[...], limits: QueryLimits())
            return nil
        } catch {
            return error.detail
        }
    }
}
