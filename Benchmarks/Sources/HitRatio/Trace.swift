import Foundation

/// How a trace asks for objects that nobody asks for again.
enum OneHitWonders: String, CaseIterable {
    case none
    /// Every fifth request.
    case mixed = "1 in 5, mixed"
    /// 10,000 in a row, one row in every 50,000 requests.
    case scans = "1 in 5, scans"

    func includes(_ index: Int) -> Bool {
        switch self {
        case .none: false
        case .mixed: index % 5 == 4
        case .scans: index % 50_000 >= 40_000
        }
    }
}

/// Requests for numbered objects: 0 and up by popularity, below 0 the one-hit wonders.
struct Trace {
    let requests: [Int]

    init(_ popularity: Zipf, wonders: OneHitWonders, requestCount: Int, seed: UInt64) {
        var random = SplitMix(state: seed)
        requests = (0..<requestCount).map { wonders.includes($0) ? -1 - $0 : popularity.object(using: &random) }
    }
}

/// Zipf's law: the object of rank r is asked for in proportion to 1 / r^alpha.
struct Zipf {
    /// For each object the probability of it or a more popular one.
    private let cumulative: [Double]

    init(alpha: Double, objectCount: Int) {
        var sum = 0.0
        let sums = (1...objectCount).map { rank in
            sum += pow(Double(rank), -alpha)
            return sum
        }
        cumulative = sums.map { $0 / sum }
    }

    /// An object by chance, the most popular being 0.
    func object(using random: inout SplitMix) -> Int {
        let chance = Double.random(in: 0..<1, using: &random)
        var range = 0..<cumulative.count - 1
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = cumulative[middle] > chance ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}

/// The same numbers for the same seed: splitmix64.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
