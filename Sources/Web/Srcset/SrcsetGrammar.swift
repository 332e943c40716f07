/// The language of `/srcset` queries: that of `/image` without what a set of widths leaves no room for.
struct SrcsetGrammar: Sendable {
    let limits: QueryLimits
    let table: ParameterTable<SrcsetDraft>

    init(limits: QueryLimits = QueryLimits()) {
        self.limits = limits
        let picture = ImageQueryGrammar.parameters(limits).filter { !["w", "fields"].contains($0.name) }
            .map { $0.within(\SrcsetDraft.picture) }
        table = ParameterTable(Array(picture.prefix(1)) + Self.parameters(limits) + picture.dropFirst())
    }

    /// Reads a query, given as received after the `?`.
    func parse(_ query: String) throws(InvalidParameter) -> SrcsetQuery {
        try parse(QueryString(parsing: query))
    }

    /// Reads a query that is in its parts already.
    func parse(_ query: QueryString) throws(InvalidParameter) -> SrcsetQuery {
        var draft = SrcsetDraft()
        try table.read(query, into: &draft)
        return try SrcsetQuery(draft, limits: limits)
    }

    private static func parameters(_ limits: QueryLimits) -> [Parameter<SrcsetDraft>] {
        [
            Parameter("widths", .widths(1...limits.maxOutputSide)) { $0.widths = $1 },
            Parameter("sizes", .sizes, standard: SrcsetDraft.standardSizes) { $0.sizes = $1 },
        ]
    }
}

extension Form where Value == [Int] {
    /// Up to 32 widths with commas between them; their order does not matter, and twice the same is once.
    fileprivate static func widths(_ range: ClosedRange<Int>) -> Form {
        Form(
            .text(
                pattern: "^[0-9]{1,5}(,[0-9]{1,5}){0,31}$",
                allowed:
                    "1 to 32 whole numbers from \(range.lowerBound) to \(range.upperBound), with commas between them")
        ) { text in
            let members = text.split(separator: ",", maxSplits: 32, omittingEmptySubsequences: false)
            let widths = members.compactMap { member in
                member.utf8.count <= 5 ? Digits.integer(String(member)).flatMap { range.contains($0) ? $0 : nil } : nil
            }
            return members.count <= 32 && widths.count == members.count ? Set(widths).sorted() : nil
        }
    }
}

extension Form where Value == String {
    /// What the `sizes` attribute of an `img` holds; it is not looked into.
    fileprivate static var sizes: Form {
        Form(.text(pattern: "^[ -~]{1,500}$", allowed: "1 to 500 printable ASCII characters")) { text in
            (1...500).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) } ? text : nil
        }
    }
}
