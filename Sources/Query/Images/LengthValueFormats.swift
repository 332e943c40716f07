import DarkroomNetwork
import DarkroomRequests

extension ValueFormat where Value == Length {
    /// Pixels, or a percentage. `50%` must be percent-encoded in a query; `50p` is its canonical spelling, and `0` is
    /// the canonical spelling of zero percent.
    static func length(_ range: ClosedRange<Int>, percent: ClosedRange<Double>) -> ValueFormat {
        ValueFormat(
            .length(range, percent: percent), write: { "\($0)" },
            read: { text in
                guard let length = Length(parsing: text) else { return nil }
                switch length {
                case .pixels(let count): return range.contains(count) ? length : nil
                case .percent(let part):
                    guard percent.contains(Double(part.hundredths) / 100) else { return nil }
                    return length.isZero ? .pixels(0) : length
                }
            })
    }
}

extension ValueFormat where Value == Crop {
    /// `x,y,w,h` in pixels or percent of an image. Whether the rectangle lies within the image is checked once its size
    /// is known.
    static func rectangle(of image: String) -> ValueFormat {
        let length = "([0-9]{1,9}|(100|[0-9]{1,2}(\\.[0-9]{1,2})?)[p%])"
        return ValueFormat(
            pattern: "^\(length)(,\(length)){3}$",
            expected: "x,y,w,h of \(image), each in whole pixels or in percent, such as 25p, w and h above 0",
            write: { "\($0.x),\($0.y),\($0.width),\($0.height)" },
            read: { text in
                let sides = text.split(separator: ",", omittingEmptySubsequences: false).map {
                    Length(parsing: String($0))
                }
                guard !text.contains("-"), sides.count == 4, let x = sides[0], let y = sides[1], let width = sides[2],
                    let height = sides[3], [x, y, width, height].allSatisfy(\.isPart), !width.isZero, !height.isZero
                else { return nil }
                return Crop(x: x, y: y, width: width, height: height)
            })
    }
}

extension ValueFormat where Value == AspectRatio {
    /// `w:h`, two numbers with at most two decimals.
    static var aspectRatio: ValueFormat {
        let number = "[0-9]{1,4}(\\.[0-9]{1,2})?"
        return ValueFormat(
            pattern: "^\(number):\(number)$", expected: "a ratio w:h of two numbers above 0, such as 16:9"
        ) { ratio in
            guard max(ratio.width, ratio.height) > 9_999 else { return "\(ratio)" }
            return "\(ValueSchema.plain(Double(ratio.width) / 100)):\(ValueSchema.plain(Double(ratio.height) / 100))"
        } read: { text in
            let sides = text.split(separator: ":", omittingEmptySubsequences: false)
            let hundredths = sides.compactMap { Digits.hundredths($0.utf8, maxWholeDigits: 4) }
            guard sides.count == 2, hundredths.count == 2, hundredths.allSatisfy({ $0 > 0 }) else { return nil }
            return AspectRatio(width: hundredths[0], height: hundredths[1])
        }
    }
}

extension Length {
    /// Reads an integer of up to nine digits, or a percentage with up to three digits and two decimals that ends in `p`
    /// or `%`. Either may have a minus sign.
    init?(parsing text: String) {
        guard let unit = text.utf8.last, unit == UInt8(ascii: "p") || unit == UInt8(ascii: "%") else {
            guard let count = Digits.integer(text) else { return nil }
            self = .pixels(count)
            return
        }
        let isSigned = text.utf8.first == UInt8(ascii: "-")
        let digits = text.utf8.dropLast().dropFirst(isSigned ? 1 : 0)
        guard let count = Digits.hundredths(digits, maxWholeDigits: 3) else { return nil }
        self = .percent(Percentage(hundredths: isSigned ? -count : count))
    }

    /// Whether it is at most the whole.
    fileprivate var isPart: Bool {
        if case .percent(let part) = self { part.hundredths <= 10_000 } else { true }
    }
}

extension Digits {
    /// A non-negative number with at most two decimals, times 100.
    fileprivate static func hundredths(_ text: some Collection<UInt8>, maxWholeDigits: Int) -> Int? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) }),
            (1...maxWholeDigits).contains(parts[0].count), parts.count == 1 || (1...2).contains(parts[1].count)
        else { return nil }
        let decimals = parts.count == 2 ? Array(parts[1]) : []
        let digits = Array(parts[0]) + decimals + Array(repeating: UInt8(ascii: "0"), count: 2 - decimals.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
