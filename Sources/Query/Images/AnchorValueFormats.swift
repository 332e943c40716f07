import DarkroomRequests

/// A value of `a`, before `fpx` and `fpy` are known.
enum PlaceName: Hashable, Sendable {
    case position(Position)
    case focal

    /// The name of a position; points without a name are focal.
    init(_ position: Position) {
        if let focus = position.faces {
            self = .position(.faces(FaceFocus(focus.choice)))
            return
        }
        let isNamed =
            switch position {
            case .entropy, .attention, .faces: true
            case .point: false
            case .anchor, .focal: Anchor.allCases.contains { $0.position == position }
            }
        self = isNamed ? .position(position) : .focal
    }
}

extension Anchor {
    fileprivate var position: Position { .anchor(x: fractions.x, y: fractions.y) }

    /// The names of weserv/images, and names of corners with their words swapped.
    fileprivate static let aliases: KeyValuePairs<String, Anchor> = [
        "c": .center, "t": .top, "tr": .topRight, "r": .right, "br": .bottomRight, "b": .bottom, "bl": .bottomLeft,
        "l": .left, "tl": .topLeft, "right-top": .topRight, "right-bottom": .bottomRight, "left-bottom": .bottomLeft,
        "left-top": .topLeft,
    ]
}

extension ValueFormat where Value: Equatable {
    /// The values of anchors, in the words of CSS `object-position` and of sharp, and further names.
    fileprivate static func anchors(
        _ others: KeyValuePairs<String, Value> = [:], _ value: (Anchor) -> Value
    ) -> ValueFormat {
        .choice(
            of: Anchor.allCases.map { ($0.rawValue, value($0)) } + others.map { ($0.key, $0.value) },
            aliases: Anchor.aliases.map { ($0.key, value($0.value)) })
    }
}

extension ValueFormat where Value == Anchor? {
    /// Nil for tiles.
    static var markAnchor: ValueFormat { anchors(["tile": nil]) { $0 } }
}

extension ValueFormat where Value == Anchor {
    static var layerAnchor: ValueFormat { anchors { $0 } }
}

extension ValueFormat where Value == Position {
    /// One of nine points.
    static var anchor: ValueFormat { anchors { $0.position } }
}

extension ValueFormat where Value == PlaceName {
    /// - Parameter findsFaces: whether the schema has the names of faces. They are read all the same, since an error
    ///   sentence can say more about them than about an unknown name.
    static func place(findsFaces: Bool) -> ValueFormat {
        let all = anchors([
            "entropy": .position(.entropy), "attention": .position(.attention),
            "face": .position(.faces(FaceFocus(.largest))), "faces": .position(.faces(FaceFocus(.all))),
            "focal": .focal,
        ]) { .position($0.position) }
        guard !findsFaces else { return all }
        let others = anchors([
            "entropy": .position(.entropy), "attention": .position(.attention), "focal": .focal,
        ]) { PlaceName.position($0.position) }
        return ValueFormat(others.schema, write: all.write, read: all.read)
    }
}
