import DarkroomRequests

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
    static var place: ValueFormat {
        anchors(["entropy": .position(.entropy), "attention": .position(.attention), "focal": .focal]) {
            .position($0.position)
        }
    }
}
