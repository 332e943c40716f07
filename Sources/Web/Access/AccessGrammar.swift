import DarkroomNetwork
import Foundation

/// The parameters that say who asks and how it is said, not what for. None of them is part of a canonical query or of a cache key.
enum AccessGrammar {
    struct Draft: Sendable {
        var preset: String?
        var expires: Date?
        var signature: String?
    }

    static let preset = Parameter<Draft>(
        "preset",
        Form(.text(pattern: "^[A-Za-z0-9_-]{1,32}$", allowed: "the name of a preset of this server")) { $0 }
    ) { $0.preset = $1 }

    static let expiry = Parameter<Draft>("exp", Form(.integer(1...maxSeconds), read: time)) { $0.expires = $1 }

    static let signature = Parameter<Draft>(
        "s",
        Form(
            .text(
                pattern: "^[A-Za-z0-9_-]{1,32}\\.[A-Za-z0-9_-]{43}$",
                allowed: "the id of a key, a dot, and a signature in base64url")
        ) { $0 }
    ) { $0.signature = $1 }

    static let parameters = [preset, expiry, signature]

    /// The last second of the year 9999.
    private static let maxSeconds = 253_402_300_799

    /// Whole seconds since 1970, in digits of ASCII without leading zeros.
    private static func time(_ text: String) -> Date? {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit), !text.hasPrefix("0"),
            let seconds = Int(text), seconds <= maxSeconds
        else { return nil }
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// How a time is written.
    static func text(of time: Date) -> String { "\(Int(time.timeIntervalSince1970))" }
}
