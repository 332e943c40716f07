/// Numbers as the grammar has them: ASCII digits only, so neither `+5`, `0x10`, `1e3`, `nan` nor other scripts' digits.
enum Digits {
    /// At most nine digits, a minus in front or not.
    static func integer(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard (1...9).contains(digits.count), digits.allSatisfy(isDigit) else { return nil }
        return Int(text)
    }

    /// Digits with or without a fraction, at most 16 characters. Never negative.
    static func number(_ text: String) -> Double? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= 16, parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) })
        else {
            return nil
        }
        return Double(text)
    }

    /// How many digits follow the point, trailing zeros aside.
    static func decimals(_ text: String) -> Int {
        guard let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return 0 }
        let fraction = text.utf8[point...].dropFirst()
        return (fraction.lastIndex { $0 != UInt8(ascii: "0") }).map { fraction[...$0].count } ?? 0
    }

    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
