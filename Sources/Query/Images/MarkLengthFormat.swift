import DarkroomTransforms

extension ValueFormat where Value == MarkLength {
    /// Pixels such as `120`, or percent such as `25p` or `25%`, with at most two decimals. Written with `p`, which does
    /// not need percent-encoding.
    ///
    /// - Parameters:
    ///   - pixels: the range of pixels, and from 0 the same for percent.
    ///   - percent: the range of percent.
    static func length(pixels: ClosedRange<Int>, percent: ClosedRange<Double>) -> ValueFormat {
        let isSigned = pixels.lowerBound < 0
        let number = isSigned ? "-?" : ""
        return ValueFormat(
            .text(
                pattern: "^\(number)([0-9]{1,5}|[0-9]{1,3}(\\.[0-9]{1,2})?[p%])$",
                expected: "\(pixels.lowerBound) to \(pixels.upperBound) pixels such as 120, or "
                    + "\(ValueSchema.plain(percent.lowerBound)) to \(ValueSchema.plain(percent.upperBound)) percent "
                    + "such as 25p")
        ) { text in
            guard let last = text.last, last == "p" || last == "%" else {
                guard text.utf8.count <= (text.hasPrefix("-") ? 6 : 5), let count = Digits.integer(text),
                    pixels.contains(count)
                else { return nil }
                return .pixels(count)
            }
            let isNegative = text.hasPrefix("-")
            let digits = String(text.dropLast().dropFirst(isNegative ? 1 : 0))
            guard let value = decimal(digits) else { return nil }
            let signed = isNegative && value > 0 ? -value : value
            guard percent.contains(signed) else { return nil }
            return signed == 0 ? .pixels(0) : .percent(signed)
        } write: {
            switch $0 {
            case .pixels(let count): "\(count)"
            case .percent(let percent): "\(ValueSchema.plain(percent))p"
            }
        }
    }

    /// A number of at most three digits before the point and two behind it.
    private static func decimal(_ text: String) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts[0].utf8.count <= 3, parts.count == 1 || parts[1].utf8.count <= 2 else { return nil }
        return Digits.decimal(text)
    }
}
