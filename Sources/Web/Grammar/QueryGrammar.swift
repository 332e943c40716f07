package import Transforms

/// What queries may ask for on this server.
package struct GrammarLimits: Hashable, Sendable {
    /// Pixels of a result's longer side, which bounds `w` and `h` before and after `dpr`.
    package var maxOutputSide: Int
    /// Frames or pages that `n` may ask for.
    package var maxFrames: Int
    /// What leaving out `resample` means.
    package var defaultResampling: Resampling

    package init(maxOutputSide: Int = 8192, maxFrames: Int = 256, defaultResampling: Resampling = .fast) {
        self.maxOutputSide = maxOutputSide
        self.maxFrames = maxFrames
        self.defaultResampling = defaultResampling
    }
}

/// The language of `/image` queries, as a table of parameters.
///
/// Names are those of weserv/images; the semantics are exact: what is unknown, given twice, out of range or at odds
/// with something else is refused, never guessed.
struct QueryGrammar: Sendable {
    let limits: GrammarLimits
    /// Every parameter, each under its own name.
    let parameters: [Parameter]
    private let indices: [String: Int]

    init(limits: GrammarLimits = GrammarLimits()) {
        self.limits = limits
        parameters = Self.parameters(limits)
        indices = Dictionary(uniqueKeysWithValues: zip(parameters.map(\.name), parameters.indices))
    }

    /// Reads a query, given as received after the `?`.
    func parse(_ query: String) throws(InvalidParameter) -> ImageQuery {
        var draft = QueryDraft()
        var given: Set<Int> = []
        for pair in try QueryString(parsing: query).pairs {
            guard let index = indices[pair.name] else { throw unknown(pair.name) }
            guard given.insert(index).inserted else {
                throw InvalidParameter(pair.name, "The parameter '\(pair.name)' was given more than once.")
            }
            try parameters[index].assign(pair.value, &draft)
        }
        return try ImageQuery(draft, limits: limits)
    }

    private func unknown(_ name: String) -> InvalidParameter {
        let matches = NearMatches.of(name, among: parameters.map(\.name)).map { "'\($0)'" }
        let hint = matches.isEmpty ? "" : " Did you mean \(matches.joined(separator: " or "))?"
        return InvalidParameter(name, "There is no parameter '\(InvalidParameter.clipped(name))'.\(hint)")
    }
}
