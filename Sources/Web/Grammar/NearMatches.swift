/// Guesses what somebody meant who mistyped a name, or wrote it out (`width` for `w`).
enum NameSuggestions {
    /// At most three names, the nearest first.
    static func of(_ given: String, among names: [String]) -> [String] {
        let given = Array(given.lowercased().utf8.prefix(longest))
        let ranked = names.compactMap { name -> (name: String, rank: Int)? in
            let known = Array(name.utf8)
            if given.starts(with: known) { return (name, 1) }
            let edits = distance(given, known)
            return edits <= min(2, given.count / 2) ? (name, edits + 1) : nil
        }
        // Sorted by hand of two keys, since a stable order is part of the answer.
        return ranked.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .prefix(3).map(\.element.name)
    }

    /// No name is longer, so nothing longer needs to be compared.
    private static let longest = 32

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for (i, a) in left.enumerated() {
            var row = [i + 1]
            for (j, b) in right.enumerated() {
                var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a == b ? 0 : 1))
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
