package import DarkroomTransforms

/// An ordered list of the formats that are sent only to clients whose `Accept` names them: WebP, AVIF and JPEG XL.
///
/// A byte instead of an array, because each hit of a negotiated image makes one and compares it.
package struct FormatList: Hashable, Sendable {
    /// Two bits for each place, the first place lowest: 0 = the list has ended, else the format.
    private var code: UInt8 = 0

    /// The formats that a list can have.
    package static let candidates: [OutputFormat] = [.webp, .avif, .jxl]

    /// An empty list.
    package init() {}

    /// Nil if a format is repeated or none of ``candidates``.
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
    package var count: Int { code == 0 ? 0 : code < 4 ? 1 : code < 16 ? 2 : 3 }

    package subscript(place: Int) -> OutputFormat { Self.candidates[Int(code >> (2 * UInt8(place)) & 3) - 1] }

    package var first: OutputFormat? { isEmpty ? nil : self[0] }
    package var formats: [OutputFormat] { (0..<count).map { self[$0] } }
    package var text: String { formats.map(\.rawValue).joined(separator: ",") }

    package func contains(_ format: OutputFormat) -> Bool { (0..<count).contains { self[$0] == format } }

    /// The list without some formats.
    package func removing(_ formats: FormatList) -> FormatList {
        guard !formats.isEmpty, !isEmpty else { return self }
        return FormatList(self.formats.filter { !formats.contains($0) }) ?? self
    }

    /// Appends the format at a place of another list, which this one must not have yet.
    mutating func append(_ format: OutputFormat) {
        if let bits = Self.bits(format) { append(bits) }
    }

    private mutating func append(_ bits: UInt8) { code |= bits << (2 * UInt8(count)) }

    private static func bits(_ format: OutputFormat) -> UInt8? {
        switch format {
        case .webp: 1
        case .avif: 2
        case .jxl: 3
        default: nil
        }
    }
}

extension ValueFormat where Value == FormatList {
    /// A value of `formats`.
    static var formats: ValueFormat {
        ValueFormat(
            .text(
                pattern: "^(avif|jxl|webp)(,(avif|jxl|webp)){0,2}$",
                expected: "one or more of avif, jxl and webp, the preferred one first, separated by commas")
        ) {
            FormatList(parsing: $0)
        } write: {
            $0.text
        }
    }
}
