import DarkroomNetwork

/// A pattern of paths such as `photos/**/*.jpg`: `*` and `?` match within a name, and `**` matches any number of
/// folders. Letter case is ignored.
struct PathPattern: Sendable {
    private enum Component: Sendable {
        case name(Glob)
        case folders
    }

    /// The folder that contains everything that can match; empty = the current one.
    let base: String
    private let components: [Component]

    /// The indexes of the components that the next name of a path may match; the count of components if the path so far
    /// matches the whole pattern.
    typealias Position = Set<Int>

    /// Nil if the text has no wildcard.
    init?(_ text: String) {
        let names = text.split(separator: "/")
        guard let first = names.firstIndex(where: { $0.contains { "*?".contains($0) } }) else { return nil }
        base = (text.hasPrefix("/") ? "/" : "") + names[..<first].joined(separator: "/")
        components = names[first...].map { $0 == "**" ? .folders : .name(Glob(String($0))) }
    }

    /// The position in ``base``.
    var start: Position { closure([0]) }

    /// The position after one more name; empty if nothing below it can match.
    func advanced(_ position: Position, by name: String) -> Position {
        var next: Position = []
        for index in position where index < components.count {
            switch components[index] {
            case .folders: next.insert(index)
            case .name(let glob): if glob.matches(name) { next.insert(index + 1) }
            }
        }
        return closure(next)
    }

    /// Whether the names so far match.
    func isMatch(_ position: Position) -> Bool { position.contains(components.count) }

    /// Whether longer paths can match.
    func continues(_ position: Position) -> Bool { position.contains { $0 < components.count } }

    /// The position, knowing that `**` also matches no folder.
    private func closure(_ position: Position) -> Position {
        var all = position
        for index in position.sorted() {
            var next = index
            while next < components.count, case .folders = components[next] {
                next += 1
                all.insert(next)
            }
        }
        return all
    }
}
