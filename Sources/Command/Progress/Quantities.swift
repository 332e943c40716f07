import Foundation

/// Times and numbers for people.
enum DurationText {
    /// `7 s`, `1:44 min` or `2:05 h`, or days.
    static func clock(_ seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60):\(padded(seconds % 60)) min"
        case ..<172_800: "\(seconds / 3_600):\(padded(seconds % 3_600 / 60)) h"
        default: "\(seconds / 86_400) days"
        }
    }

    /// `40 ms`, `0.2 s`, `14 s`, or ``clock(_:)``.
    static func seconds(_ duration: Duration) -> String {
        guard duration >= .milliseconds(100) else { return "\(Int(duration / .milliseconds(1))) ms" }
        let seconds = duration / .seconds(1)
        return seconds < 60 ? "\(decimal(seconds)) s" : clock(Int(seconds.rounded()))
    }

    /// A number with one digit after the point below 10.
    static func decimal(_ number: Double) -> String {
        // Rounding happens first: 9.96 is 10, not 10.0.
        let tenths = (number * 10).rounded()
        return tenths < 100 ? "\(tenths / 10)" : "\(Int(number.rounded()))"
    }

    /// Seconds with three digits after the point, for JSON.
    static func rounded(_ duration: Duration) -> Double { (duration / .milliseconds(1)).rounded() / 1_000 }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// A number of bytes for people, in powers of 1,000.
struct ByteText: CustomStringConvertible {
    let description: String

    init(_ bytes: Int) {
        let units = ["kB", "MB", "GB", "TB"]
        var (number, unit) = (Double(bytes), "B")
        for next in units where number >= 999.5 { (number, unit) = (number / 1_000, next) }
        description = unit == "B" ? "\(bytes) B" : "\(DurationText.decimal(number)) \(unit)"
    }
}
