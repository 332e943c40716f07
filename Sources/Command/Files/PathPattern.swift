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
    private let isDeep: Bool

    /// Nil if the text has no wildcard.
    init?(_ text: String) {
        let names = text.split(separator: "/")
        guard let first = names.firstIndex(where: { $0.contains { "*?".contains($0) } }) else { return nil }
        base = (text.hasPrefix("/") ? "/" : "") + names[..<first].joined(separator: "/")
        components = names[first...].map { $0 == "**" ? .folders : .name(Glob(String($0))) }
        isDeep = names[first...].contains("**")
    }

    /// Whether paths below ``base`` with more names than these can match.
    func descends(_ count: Int) -> Bool { isDeep || count < components.count }

    /// Whether a path below ``base`` matches.
    func matches(_ names: [String]) -> Bool { Self.match(components[...], names[...]) }

    private static func match(_ components: ArraySlice<Component>, _ names: ArraySlice<String>) -> Bool {
        switch components.first {
        case nil: names.isEmpty
        case .folders?:
            match(components.dropFirst(), names) || !names.isEmpty && match(components, names.dropFirst())
        case .name(let glob)?:
            names.first.map { glob.matches($0) } == true && match(components.dropFirst(), names.dropFirst())
        }
    }
}
