/// A part of a length, exact to a hundredth of a percent. The literals `50` and `33.5` are percent.
public struct Percentage: Hashable, Codable, Sendable, CustomStringConvertible {
    /// In hundredths of a percent: 10,000 is the whole length.
    public var hundredths: Int

    /// A part of this many hundredths of a percent.
    public init(hundredths: Int) {
        self.hundredths = hundredths
    }

    /// Of the whole length: 1 is 100 %.
    package var fraction: Double { Double(hundredths) / 10_000 }

    /// This part of a length in pixels, rounded to the nearest pixel.
    package func of(_ length: Int) -> Int { Int((Double(length) * Double(hundredths) / 10_000).rounded()) }

    /// As in queries, such as `33.5p`.
    public var description: String {
        let (whole, part) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
        let sign = hundredths < 0 ? "-" : ""
        switch part {
        case 0: return "\(sign)\(whole)p"
        case 1...9: return "\(sign)\(whole).0\(part)p"
        default: return "\(sign)\(whole).\(part.isMultiple(of: 10) ? part / 10 : part)p"
        }
    }
}

extension Percentage: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    public init(integerLiteral percent: Int) { self.init(hundredths: percent * 100) }
    public init(floatLiteral percent: Double) { self.init(hundredths: Int((percent * 100).rounded())) }
}

/// A length in pixels, or relative to an image that is known later.
public enum Length: Hashable, Codable, Sendable, CustomStringConvertible {
    case pixels(Int)
    case percent(Percentage)

    /// Nil for a relative length.
    public var pixels: Int? {
        if case .pixels(let count) = self { count } else { nil }
    }

    public var isZero: Bool { self == .pixels(0) || self == .percent(0) }

    public var isNegative: Bool {
        switch self {
        case .pixels(let count): count < 0
        case .percent(let part): part.hundredths < 0
        }
    }

    /// In pixels, where 100 % is `whole`.
    package func measured(in whole: Int) -> Int {
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
