import DarkroomQuery
import Testing

@testable import DarkroomDialects

/// A dialect of imgproxy with a few rules, and what its paths mean.
struct ImgproxyBench {
    var dialect: ImgproxyDialect

    init(
        pairs: [(key: String, salt: String)] = [], presets: [String] = [],
        _ change: (inout ImgproxyDialect.Rules) -> Void = { _ in }
    ) throws {
        var rules = ImgproxyDialect.Rules(keys: try ImgproxyKeys(pairs: pairs))
        change(&rules)
        dialect = try ImgproxyDialect(rules, presets: presets)
    }

    func translation(_ target: String) throws(AuthorizationError) -> PathTranslation {
        try dialect.translate(target[...], limits: QueryLimits())
    }

    /// The parameters of a path with these options, without the parameters of every path.
    func parameters(_ options: String) throws -> [String: String] {
        let path = "/unsafe/\(options)\(options.isEmpty ? "" : "/")plain/https://example.com/a.jpg"
        var parameters = try parameters(of: path)
        for (name, value) in [
            "url": "https://example.com/a.jpg", "rules": "imgproxy", "formats": "none", "n": "1",
        ] where parameters[name] == value {
            parameters[name] = nil
        }
        return parameters
    }

    func parameters(of target: String) throws -> [String: String] {
        let pairs = try translation(target).query.pairs
        return Dictionary(uniqueKeysWithValues: pairs.map { ($0.name, $0.value ?? "") })
    }

    /// The sentence that a path is refused with; nil if it is not, or for another reason.
    func refusal(_ target: String) -> String? {
        do throws(AuthorizationError) {
            _ = try translation(target)
            return nil
        } catch {
            guard case .invalidParameter(let error) = error else { return nil }
            return error.detail
        }
    }
}
