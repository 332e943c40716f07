import DarkroomNetwork

/// Reads numbers written in ASCII digits: no leading `+`, no hexadecimal, no `nan`, no digits of other scripts.
package enum Digits {
    /// An integer of one to nine digits with an optional leading minus sign; nil for anything else.
    package static func integer(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard (1...9).contains(digits.count), digits.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int(text)
    }

    /// An integer as ``integer(_:)`` reads it; nil outside the range.
    static func integer(_ text: String, in range: ClosedRange<Int>) -> Int? {
        integer(text).flatMap { range.contains($0) ? $0 : nil }
    }

    /// A non-negative JSON number (RFC 8259 §6) of at most 32 characters, with or without a fraction or an exponent,
    /// such as `1e-06`.
    static func number(_ text: String) -> Double? {
        let parts = text.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        guard text.utf8.count <= 32, isDecimal(parts[0]), parts.dropFirst().allSatisfy(isExponent) else { return nil }
        return Double(text)
    }

    /// A non-negative decimal number of at most 16 characters, without an exponent.
    static func decimal(_ text: String) -> Double? {
        text.utf8.count <= 16 && isDecimal(text.utf8[...]) ? Double(text) : nil
    }

    private static func isDecimal(_ text: Substring.UTF8View) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count <= 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isASCIIDigit) }
    }

    private static func isExponent(_ text: Substring.UTF8View) -> Bool {
        let digits = text.first == UInt8(ascii: "-") || text.first == UInt8(ascii: "+") ? text.dropFirst() : text
        return (1...3).contains(digits.count) && digits.allSatisfy(\.isASCIIDigit)
    }
}
