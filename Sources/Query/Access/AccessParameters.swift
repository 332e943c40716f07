import DarkroomNetwork
import Foundation

/// The parameters that identify the client, rather than the image. None of them is part of a canonical query or of a
/// cache key.
enum AccessParameters {
    struct Draft: Sendable {
        var preset: String?
        var expires: Date?
        var signature: String?
    }

    static let preset = Parameter<Draft>(
        "preset",
        .text(pattern: "^[A-Za-z0-9_-]{1,32}$", expected: "the name of a preset of this server") { _ in true },
        \.preset, .access, .respond, "A named set of parameters; parameters of the request take precedence.")

    static let expiry = Parameter<Draft>(
        "exp", ValueFormat(.integer(1...maxSeconds), write: text, read: time), \.expires, .access, .respond,
        "When the signed URL expires, in seconds since 1970.")

    static let signature = Parameter<Draft>(
        "s",
        .text(
            pattern: "^[A-Za-z0-9_-]{1,32}\\.[A-Za-z0-9_-]{43}$",
            expected: "a key ID, a dot and a signature in base64url"
        ) { _ in true }, \.signature, .access, .respond, "The signature of path and parameters.")

    /// In the order of the documentation.
    static let table = ParameterTable([preset, expiry, signature], initial: Draft())

    /// The time of an expiry, written in whole seconds.
    static func text(of time: Date) -> String { "\(Int(time.timeIntervalSince1970))" }

    /// 9999-12-31T23:59:59Z.
    private static let maxSeconds = 253_402_300_799

    /// Reads whole seconds since 1970, in ASCII digits without leading zeros.
    private static func time(_ text: String) -> Date? {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit), !text.hasPrefix("0"),
            let seconds = Int(text), seconds <= maxSeconds
        else { return nil }
        return Date(timeIntervalSince1970: Double(seconds))
    }
}
