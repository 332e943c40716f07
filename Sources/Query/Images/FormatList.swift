package import DarkroomRequests

/// An ordered list of the formats that are sent only to clients whose `Accept` names them, such as WebP and AVIF.
///
/// A number instead of an array, because each hit of a negotiated image creates a list and compares it.
package struct FormatList: Hashable, Sendable {
    /// Four bits for each place, the first place lowest: 0 = the list has ended, else the format.
    private var code: UInt32 = 0

    /// The formats that a list can have, at most eight.
    package static let candidates = OutputFormat.negotiated
    /// Their names in a sentence.
    package static let names = candidates.map(\.rawValue).sorted().listed("and")

    /// An empty list.
    package init() {}

    /// Nil if a format is repeated or is not one of ``candidates``.
    package init?(_ formats: [OutputFormat]) {
        for format in formats {
            guard let bits = Self.bits(format), !contains(format) else { return nil }
            append(bits)
        }
    }

    /// Reads names in any case separated by commas; nil if the list is empty or a name is unknown or repeated.
    package init?(parsing text: String) {
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        let formats = names.compactMap { OutputFormat(rawValue: $0.lowercased()) }
        guard formats.count == names.count, let list = FormatList(formats) else { return nil }
        self = list
    }

    package var isEmpty: Bool { code == 0 }
    package var count: Int { (UInt32.bitWidth - code.leadingZeroBitCount + 3) / 4 }

    package subscript(place: Int) -> OutputFormat { Self.candidates[Int(code >> (4 * UInt32(place)) & 15) - 1] }

    package var formats: [OutputFormat] { (0..<count).map { self[$0] } }
    package var text: String { formats.map(\.rawValue).joined(separator: ",") }

    package func contains(_ format: OutputFormat) -> Bool { (0..<count).contains { self[$0] == format } }

    /// The list without some formats.
    package func removing(_ formats: FormatList) -> FormatList {
        guard !formats.isEmpty, !isEmpty else { return self }
        return FormatList(self.formats.filter { !formats.contains($0) }) ?? self
    }

    /// Appends the format at a place of another list, which this list must not have yet.
    mutating func append(_ format: OutputFormat) {
        if let bits = Self.bits(format) { append(bits) }
    }

    private mutating func append(_ bits: UInt32) { code |= bits << (4 * UInt32(count)) }

    private static func bits(_ format: OutputFormat) -> UInt32? {
        candidates.firstIndex(of: format).map { UInt32($0 + 1) }
    }
}

extension ValueFormat where Value == FormatList {
    static var formats: ValueFormat {
        let names = FormatList.candidates.map(\.rawValue).sorted().joined(separator: "|")
        return ValueFormat(
            pattern: "^(none|(\(names))(,(\(names))){0,\(FormatList.candidates.count - 1)})$",
            expected: "none, or one or more of \(FormatList.names), the preferred one first, separated by commas",
            write: { $0.isEmpty ? "none" : $0.text },
            read: { $0.lowercased() == "none" ? FormatList() : FormatList(parsing: $0) })
    }
}
