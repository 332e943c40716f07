import DarkroomTransforms

/// A value of `a`, before `fpx` and `fpy` are known.
enum PlaceName: Hashable, Sendable {
    case position(Position)
    case focal

    /// The name of a position; points without a name are focal.
    init(_ position: Position) {
        let isNamed =
            switch position {
            case .entropy, .attention: true
            case .point: false
            case .anchor, .focal: Mark.Anchor.allCases.contains { $0.position == position }
            }
        self = isNamed ? .position(position) : .focal
    }
}

extension Mark.Anchor {
    /// Nil for `tile`.
    fileprivate var position: Position? { fractions.map { .anchor(x: $0.x, y: $0.y) } }

    /// The names of weserv/images, and names of corners with their words swapped.
    fileprivate static let aliases: KeyValuePairs<String, Mark.Anchor> = [
        "c": .center, "t": .top, "tr": .topRight, "r": .right, "br": .bottomRight, "b": .bottom, "bl": .bottomLeft,
        "l": .left, "tl": .topLeft, "right-top": .topRight, "right-bottom": .bottomRight, "left-bottom": .bottomLeft,
        "left-top": .topLeft,
    ]
}

extension ValueFormat where Value: Equatable {
    /// The anchors that have a value, in the words of CSS `object-position` and of sharp, and further names.
    fileprivate static func anchors(
        _ others: KeyValuePairs<String, Value> = [:], _ value: (Mark.Anchor) -> Value?
    ) -> ValueFormat {
        .choice(
            of: Mark.Anchor.allCases.compactMap { anchor in value(anchor).map { (anchor.rawValue, $0) } }
                + others.map { ($0.key, $0.value) },
            aliases: Mark.Anchor.aliases.compactMap { alias in value(alias.value).map { (alias.key, $0) } })
    }
}

extension ValueFormat where Value == Mark.Anchor {
    static var markAnchor: ValueFormat { anchors { $0 } }
}

extension ValueFormat where Value == Position {
    /// One of nine points.
    static var anchor: ValueFormat { anchors { $0.position } }
}

extension ValueFormat where Value == PlaceName {
    static var place: ValueFormat {
        anchors(["entropy": .position(.entropy), "attention": .position(.attention), "focal": .focal]) {
            $0.position.map(PlaceName.position)
        }
    }
}
