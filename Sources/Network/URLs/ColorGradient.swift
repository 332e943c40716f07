/// One color, or the way from a color to another at an angle, as in `color:///ff8800,0044cc,90`.
package struct ColorGradient: Hashable, Sendable, CustomStringConvertible {
    /// Red, green, blue and alpha where it begins, 0…255 each.
    package let start: [UInt8]
    /// The same where it ends; equal to ``start`` for one color.
    package let end: [UInt8]
    /// Where it leads on a square canvas, in degrees clockwise from upward, 0…359, as in CSS.
    package let angle: Int

    /// The angle of a gradient without one: from the top to the bottom.
    private static let downward = 180

    /// Reads `rrggbb` or `rrggbbaa`, alone or followed by a second color and by an angle, with commas between; nil for
    /// anything else.
    init?(parsing text: some Collection<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        let colors = parts.prefix(2).compactMap { Self.channels($0) }
        guard let start = colors.first, colors.count == min(parts.count, 2), parts.count <= 3 else { return nil }
        (self.start, end) = (start, colors.last ?? start)
        var angle = Self.downward
        if parts.count == 3 {
            guard (1...3).contains(parts[2].count), parts[2].allSatisfy(\.isASCIIDigit),
                let degrees = Int(String(decoding: parts[2], as: UTF8.self)), degrees < 360
            else { return nil }
            angle = degrees
        }
        self.angle = start == end ? Self.downward : angle
    }

    private static func channels(_ text: some Collection<UInt8>) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, [6, 8].contains(digits.count) else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        return bytes.count == 3 ? bytes + [255] : bytes
    }

    /// The one spelling, without the alpha of opaque colors and without the default angle.
    package var description: String {
        guard start != end else { return Self.text(start) }
        return "\(Self.text(start)),\(Self.text(end))" + (angle == Self.downward ? "" : ",\(angle)")
    }

    private static func text(_ channels: [UInt8]) -> String {
        (channels[3] == 255 ? channels.prefix(3) : channels[...])
            .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
