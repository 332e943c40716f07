import DarkroomQuery
import DarkroomRequests

/// Reads values as Cloudflare Images documents them.
enum CloudflareValue {
    /// An error about an option's value.
    static func invalid(_ option: String, _ expected: String, _ value: String) -> InvalidParameter {
        InvalidParameter(
            option,
            "Option '\(option)' must be \(expected), got '\(InvalidParameter.clipped(value))'.")
    }

    static func number(
        _ option: String, _ text: String, _ range: ClosedRange<Double>
    ) throws(InvalidParameter) -> Double {
        let isPlain = !text.isEmpty && text.utf8.count <= 12 && text.utf8.allSatisfy { "0123456789.".utf8.contains($0) }
        guard isPlain, let number = Double(text.hasPrefix(".") ? "0\(text)" : text), range.contains(number) else {
            let (least, most) = (range.lowerBound.text(decimals: 2), range.upperBound.text(decimals: 2))
            throw invalid(option, "a number from \(least) to \(most)", text)
        }
        return number
    }

    static func integer(_ option: String, _ text: String, _ range: ClosedRange<Int>) throws(InvalidParameter) -> Int {
        guard text.utf8.count <= 7, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            range.contains(number)
        else {
            throw invalid(option, "an integer from \(range.lowerBound) to \(range.upperBound)", text)
        }
        return number
    }

    /// A color of CSS: a name, hexadecimal digits, or `rgb()` with numbers.
    static func color(_ option: String, _ text: String) throws(InvalidParameter) -> Color {
        if let color = Color(parsing: text) { return color }
        let lower = text.lowercased()
        guard let open = lower.firstIndex(of: "("), lower.hasSuffix(")"), ["rgb", "rgba"].contains(lower[..<open])
        else {
            throw invalid(option, "a CSS color", text)
        }
        let inner = lower[lower.index(after: open)...].dropLast()
        let parts = inner.split { ", /".contains($0) }.map(String.init)
        let channels = parts.prefix(3).compactMap { UInt8($0) }
        guard channels.count == 3, parts.count <= 4 else { throw invalid(option, "a CSS color", text) }
        var alpha = 1.0
        if parts.count == 4 { alpha = try opacity(option, parts[3]) }
        return Color(
            red: channels[0], green: channels[1], blue: channels[2], alpha: UInt8((alpha * 255).rounded()))
    }

    private static func opacity(_ option: String, _ text: String) throws(InvalidParameter) -> Double {
        guard text.hasSuffix("%") else { return try number(option, text, 0...1) }
        return try number(option, String(text.dropLast()), 0...100) / 100
    }
}
