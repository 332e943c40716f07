import DarkroomTransforms

/// How the scaled region is mirrored left to right and then rotated (IIIF Image API 3.0 §4.3).
struct IIIFRotation: Hashable, Sendable {
    /// `!`
    let mirrors: Bool
    /// Clockwise, at least 0 and below 360.
    let degrees: Double

    init(_ text: String) throws(InvalidParameter) {
        mirrors = text.hasPrefix("!")
        guard let degrees = IIIFNumbers.decimal(text.dropFirst(mirrors ? 1 : 0)), degrees <= 360 else {
            throw InvalidParameter(
                "rotation", got: text, expected: "degrees from 0 to 360, after ! for an image that is mirrored first")
        }
        self.degrees = degrees == 360 ? 0 : degrees
    }

    /// A chain rotates first and then mirrors, which gives the same result with the opposite angle.
    func apply(to recipe: inout Recipe) {
        recipe.flop = mirrors
        recipe.rotationDegrees = mirrors && degrees > 0 ? 360 - degrees : degrees
    }

    /// The canonical rotation (§4.8).
    var canonical: String { "\(mirrors ? "!" : "")\(ValueSchema.plain(degrees))" }
}
