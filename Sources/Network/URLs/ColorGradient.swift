/// A rectangle of one color, or of the way from a color to another at an angle, such as `ff8800,0044cc,90,600x400`.
package struct ColorGradient: Hashable, Sendable, CustomStringConvertible {
    /// Red, green, blue and alpha where it begins, 0…255 each.
    package let start: [UInt8]
    /// The same where it ends; equal to ``start`` for one color.
    package private(set) var end: [UInt8]
    /// Where it leads, in degrees clockwise from upward, 0…359, as in CSS.
    package private(set) var angle = Self.downward
    /// In pixels, 1…9,999.
    package private(set) var width = 1
    /// In pixels, 1…9,999.
    package private(set) var height = 1

    /// The angle of a gradient without one: from the top to the bottom.
    private static let downward = 180

    /// Reads `rrggbb` or `rrggbbaa`, followed by any of a second color, the angle to it, and a size such as `600x400`,
    /// with commas between; nil for anything else.
    init?(parsing text: some Collection<UInt8>) {
        var parts = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)[...]
        guard let first = parts.popFirst(), let start = Self.channels(first) else { return nil }
        (self.start, end) = (start, start)
        if let size = parts.last.flatMap({ Self.size($0) }) {
            (width, height) = size
            parts.removeLast()
        }
        if let second = parts.popFirst() {
            guard let end = Self.channels(second) else { return nil }
            self.end = end
        }
        if let degrees = parts.popFirst() {
            guard let angle = Self.integer(degrees, digits: 1...3), angle < 360 else { return nil }
            self.angle = start == end ? Self.downward : angle
        }
        guard parts.isEmpty else { return nil }
    }

    private static func channels(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard let bytes = [UInt8](hex: text), [3, 4].contains(bytes.count) else { return nil }
        return bytes.count == 3 ? bytes + [255] : bytes
    }

    private static func size(_ text: some Collection<UInt8>) -> (width: Int, height: Int)? {
        let sides = text.split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
        guard sides.count == 2, let width = integer(sides[0], digits: 1...4), width > 0,
            let height = integer(sides[1], digits: 1...4), height > 0
        else { return nil }
        return (width, height)
    }

    private static func integer(_ text: some Collection<UInt8>, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.count), text.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int(String(decoding: text, as: UTF8.self))
    }

    /// The one spelling, without the alpha of opaque colors and without defaults.
    package var description: String {
        let colors = start == end ? Self.text(start) : "\(Self.text(start)),\(Self.text(end))"
        let direction = angle == Self.downward ? "" : ",\(angle)"
        return colors + direction + (width == 1 && height == 1 ? "" : ",\(width)x\(height)")
    }

    private static func text(_ channels: [UInt8]) -> String {
        (channels[3] == 255 ? channels.prefix(3) : channels[...]).hexText
    }
}
