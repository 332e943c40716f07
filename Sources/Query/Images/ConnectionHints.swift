import DarkroomNetwork

/// What a client says about its connection (Save Data API, Network Information API).
package struct ConnectionHints: Hashable, Sendable {
    /// The fields that ``isSlow`` depends on.
    package static let fieldNames = ["Save-Data", "ECT", "RTT", "Downlink"]
    /// The fields that browsers send only to servers that ask for them with `Accept-CH`.
    package static let requestedNames = Array(fieldNames.dropFirst())
    /// Above this round-trip time, in milliseconds, a connection is slow.
    private static let maxRoundTrip = 150.0
    /// Below this rate, in megabits per second, a connection is slow.
    private static let minDownlink = 5.0

    /// Whether the client asks for less data, or its connection is 3G or slower, has a long round-trip time or a low
    /// rate.
    package let isSlow: Bool

    /// Reads the fields `Save-Data`, `ECT`, `RTT` in milliseconds, and `Downlink` in megabits per second.
    package init(
        saveData: String?, effectiveType: String? = nil, roundTrip: String? = nil, downlink: String? = nil
    ) {
        let savesData = saveData.map(Self.isOn) ?? false
        isSlow =
            savesData || ["slow-2g", "2g", "3g"].contains(effectiveType.map(Self.word))
            || roundTrip.flatMap(Self.number).map { $0 > Self.maxRoundTrip } ?? false
            || downlink.flatMap(Self.number).map { $0 < Self.minDownlink } ?? false
    }

    /// Whether a `Save-Data` field has the token `on`, with or without parameters.
    private static func isOn(_ field: String) -> Bool {
        String(field.prefix { $0 != ";" }).lowercased().split(separator: " ") == ["on"]
    }

    private static func word(_ field: String) -> String { Substring(field).trimmingBlanks.lowercased() }

    /// A number without a sign; nil for any other text.
    private static func number(_ field: String) -> Double? {
        let text = word(field)
        return text.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") } ? Double(text) : nil
    }
}
