/// How often values fell into each of some buckets, and their sum.
package struct Histogram: Hashable, Sendable {
    /// The buckets' upper bounds, rising; one without a bound follows them.
    let bounds: [Double]
    private(set) var counts: [Int]
    private(set) var sum = 0.0

    init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// A value that is equal to a bound belongs below it. What is no finite number is left out, for it would spoil the sum for ever.
    mutating func record(_ value: Double) {
        guard value.isFinite else { return }
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }

    /// For each bucket how many values lie in it or below it; the last is the number of all.
    var cumulativeCounts: [Int] {
        var total = 0
        return counts.map { count in
            total += count
            return total
        }
    }
}
