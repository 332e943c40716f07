import DarkroomRequests

/// Where a layer lies, and how it is drawn, before `dpr`.
struct LayerPlacing: Hashable, Sendable {
    var anchor = Anchor.center
    var x = Length.pixels(0)
    var y = Length.pixels(0)
    var opacity = Mark.opacities.upperBound
    var blend = Mark.Blend.over

    init() {}

    /// The placing that ``layer(_:_:_:_:)`` makes this layer of.
    init(writing layer: Layer) {
        let edges = Place.Edge.fractions
        anchor = Anchor.allCases.first { $0.fractions == (edges[layer.x.edge], edges[layer.y.edge]) } ?? .center
        (x, y, opacity, blend) = (layer.x.distance, layer.y.distance, layer.opacity, layer.blend)
    }

    func layer(_ name: String, _ content: Layer.Content, _ ratio: Hundredths, _ limits: QueryLimits) -> Layer {
        func place(_ fraction: Double, _ distance: Length) -> Place {
            let edge: Place.Edge = fraction == 0 ? .start : fraction == 1 ? .end : .center
            return Place(edge, distance: ratio.times(distance, atMost: limits.maxOutputSide))
        }
        var layer = Layer(name, content, x: place(anchor.fractions.x, x), y: place(anchor.fractions.y, y))
        (layer.opacity, layer.blend) = (opacity, blend)
        return layer
    }

    static func rows(_ limits: QueryLimits) -> [Parameter<LayerPlacing>] {
        typealias Row = Parameter<LayerPlacing>
        let offset = ValueFormat.length(-limits.maxOutputSide...limits.maxOutputSide, percent: -100...100)
        return [
            Row(
                "place", .layerAnchor, \.anchor, .watermarks, .transform("Layer"),
                "Where the layer lies on the result: center, edge or corner."),
            Row(
                "x", offset, \.x, .watermarks, .transform("Layer"),
                "Horizontal distance in CSS pixels or in percent of the result's width: from the left or right edge, "
                    + "or to the right of the center. A layer may lie partly outside."),
            Row(
                "y", offset, \.y, .watermarks, .transform("Layer"),
                "Vertical distance in CSS pixels or in percent of the result's height: from the top or bottom edge, or "
                    + "below the center."),
            Row(
                "alpha", .integer(Mark.opacities), \.opacity, .watermarks, .transform("Layer"), cost: .low,
                "Opacity in percent."),
            Row(
                "blend", .choice(Mark.Blend.self), \.blend, .watermarks, .transform("Layer"), cost: .low,
                "How the colors combine with the result below, as `markblend`."),
        ]
    }
}

extension Place.Edge {
    /// The part of the free space before a layer at this edge.
    fileprivate static let fractions: [Place.Edge: Double] = [.start: 0, .center: 0.5, .end: 1]
}

extension Hundredths {
    /// The product with a length in pixels, of which no more than `limit` matters. A percentage stays as it is.
    func times(_ length: Length, atMost limit: Int) -> Length {
        guard case .pixels(let count) = length else { return length }
        return .pixels(count.signum() * min(times(abs(count)), limit))
    }
}
