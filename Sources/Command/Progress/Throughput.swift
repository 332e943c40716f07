/// The rate of a work in progress, over the last seconds: images differ so much that an average over all of them would
/// long remember the first ones.
struct Throughput: Sendable {
    /// Oldest first.
    private var samples: [(time: Duration, count: Int)] = [(.zero, 0)]

    /// Records the count at a time since the start.
    mutating func record(_ count: Int, at time: Duration) {
        samples.append((time, count))
        // One sample from before the window stays, so that the window is always covered.
        let old = samples.dropFirst().prefix { $0.time <= time - Self.window }.count
        samples.removeFirst(old)
    }

    /// Items per second; nil while none is finished.
    var perSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.count > first.count, last.time > first.time
        else { return nil }
        return Double(last.count - first.count) / ((last.time - first.time) / .seconds(1))
    }

    private static let window = Duration.seconds(15)
}
