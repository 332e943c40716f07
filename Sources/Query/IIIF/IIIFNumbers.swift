import DarkroomNetwork

/// Numbers in IIIF paths: decimal digits, with a point where they need not be integers (§4.7).
enum IIIFNumbers {
    /// The numbers of a comma-separated list, of at most nine digits each; nil for an item without digits. The list is
    /// empty if the text has anything else.
    static func pixels(_ text: Substring) -> [Int?] {
        let members = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = members.map { $0.hasPrefix("-") ? nil : Digits.integer(String($0)) }
        return zip(members, numbers).allSatisfy { $0.isEmpty || $1 != nil } ? numbers : []
    }

    /// The numbers of a comma-separated list; an empty list if it has anything else.
    static func decimals(_ text: Substring) -> [Double] {
        let members = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = members.compactMap { decimal($0) }
        return numbers.count == members.count ? numbers : []
    }

    /// A number of at most 16 digits before its point, which it may begin with, and 32 after it: viewers divide, and
    /// write `33.333333333333336`.
    static func decimal(_ text: Substring) -> Double? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 2, parts[0].count <= 16, parts[0].count > 0 || parts.count == 2,
            parts.dropFirst().allSatisfy({ (1...32).contains($0.count) }),
            parts.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) })
        else { return nil }
        return Double("0\(text)")
    }

    /// A part of a length in pixels, rounded to the nearest pixel.
    static func rounded(_ percent: Double, percentOf length: Int) -> Int { rounded(Double(length) * percent / 100) }

    /// The nearest integer, half away from zero, of a number that is not negative.
    static func rounded(_ number: Double) -> Int { Int(min(number, 1e15).rounded()) }
}
