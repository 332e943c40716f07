/// A length on a picture: pixels, or a part of one of the picture's sides, which may be negative.
public enum MarkLength: Hashable, Codable, Sendable {
    /// Whole pixels.
    case pixels(Int)
    /// Percent of the side.
    case percent(Double)

    /// In whole pixels, rounded to the nearest, on a side of this many pixels.
    public func pixels(of side: Int) -> Int {
        switch self {
        case .pixels(let count): count
        case .percent(let percent): Int((Double(side) * percent / 100).rounded())
        }
    }

    /// The length's part of a transform's key.
    var key: String {
        switch self {
        case .pixels(let count): "\(count)"
        case .percent(let percent): "\(percent)%"
        }
    }
}
