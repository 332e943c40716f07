/// A part of a length, exact to a hundredth of a percent.
public struct Percentage: Hashable, Codable, Sendable, CustomStringConvertible {
    /// In hundredths of a percent: 10,000 is the whole length.
    public var hundredths: Int

    /// A part of this many hundredths of a percent.
    public init(hundredths: Int) {
        self.hundredths = hundredths
    }

    /// This part of a length in pixels, rounded to the nearest pixel.
    func of(_ length: Int) -> Int { Int((Double(length) * Double(hundredths) / 10_000).rounded()) }

    /// As in queries, such as `33.5p`.
    public var description: String {
        let (whole, part) = hundredths.quotientAndRemainder(dividingBy: 100)
        switch part {
        case 0: return "\(whole)p"
        case 1...9: return "\(whole).0\(part)p"
        default: return "\(whole).\(part.isMultiple(of: 10) ? part / 10 : part)p"
        }
    }
}

/// A length in pixels, or relative to an image that is known later.
public enum Length: Hashable, Codable, Sendable, CustomStringConvertible {
    case pixels(Int)
    case percent(Percentage)

    /// Nil for a relative length.
    public var pixels: Int? {
        if case .pixels(let count) = self { count } else { nil }
    }

    /// In pixels, where 100 % is `whole`.
    func resolved(in whole: Int) -> Int {
        switch self {
        case .pixels(let count): count
        case .percent(let part): part.of(whole)
        }
    }

    /// As in queries: `40` or `50p`.
    public var description: String {
        switch self {
        case .pixels(let count): "\(count)"
        case .percent(let part): "\(part)"
        }
    }
}
