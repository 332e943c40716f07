import Foundation

/// How far a command has come.
struct WorkProgress: Equatable, Sendable {
    /// Nil while the work is being counted.
    var total: Int?
    /// The items that are done with, failures included; without a total, the items found so far.
    var finished: Int
    var failed = 0
}

/// A line that shows progress: `[#####.....]  50%  60/120  8.4/s  7 s left  2 failed`.
///
/// It is plain ASCII, so that it has as many columns as characters whatever the locale is.
struct ProgressBar: Equatable, Sendable {
    /// Whether failures are red.
    let isColored: Bool

    /// The line for a terminal of that many columns. The last column stays empty, because some terminals wrap there.
    /// Where columns are scarce, the bar shrinks and then disappears, and after it rate, time left and percentage. The
    /// rate is in items per second; nil = unknown.
    func line(_ progress: WorkProgress, rate: Double?, columns: Int) -> String {
        let room = max(columns - 1, 0)
        guard let total = progress.total else { return String("\(progress.finished) files found".prefix(room)) }
        let count = "\(progress.finished)/\(total)"
        let failed = progress.failed > 0 ? "\(progress.failed) failed" : nil
        let percent = Self.percent(progress.finished, of: total)
        let left = rate.flatMap { Self.left(total - progress.finished, rate: $0) }
        let speed = rate.flatMap(Self.speed)
        let choices = [
            [percent, count, speed, left, failed], [percent, count, left, failed], [percent, count, failed],
            [count, failed],
        ]
        for (index, choice) in choices.enumerated() {
            let parts = choice.compactMap(\.self)
            let text = parts.joined(separator: Self.gap)
            guard text.count <= room || index == choices.count - 1 else { continue }
            let cells = min(room - text.count - Self.gap.count - 2, Self.maxCells)
            let bar = index == 0 && cells >= Self.minCells ? Self.bar(progress.finished, of: total, cells) : ""
            return colored(bar + text.prefix(room), failed)
        }
        return ""
    }

    private static let gap = "  "
    private static let minCells = 10
    private static let maxCells = 40

    private func colored(_ line: String, _ failed: String?) -> String {
        guard isColored, let failed, line.hasSuffix(failed) else { return line }
        return line.dropLast(failed.count) + "\u{1B}[31m\(failed)\u{1B}[0m"
    }

    private static func bar(_ finished: Int, of total: Int, _ cells: Int) -> String {
        let filled = total > 0 ? min(cells * finished / total, cells) : cells
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: cells - filled) + "]" + gap
    }

    /// Rounded down, so that 100 % is the end.
    private static func percent(_ finished: Int, of total: Int) -> String {
        let text = "\(total > 0 ? min(100 * finished / total, 100) : 100)%"
        return String(repeating: " ", count: max(4 - text.count, 0)) + text
    }

    /// A rate in the unit in which it is at least 1; nil for none.
    private static func speed(_ perSecond: Double) -> String? {
        let choices = [(perSecond, "s"), (perSecond * 60, "min"), (perSecond * 3600, "h")]
        guard perSecond > 0, let (rate, unit) = choices.first(where: { $0.0 >= 1 }) else { return nil }
        return "\(DurationText.decimal(rate))/\(unit)"
    }

    private static func left(_ items: Int, rate: Double) -> String? {
        guard items > 0, rate > 0 else { return nil }
        let seconds = (Double(items) / rate).rounded(.up)
        guard seconds < 1e8 else { return nil }
        return "\(DurationText.clock(Int(seconds))) left"
    }
}

/// The rate of work in progress, over the last seconds: images differ so much that the first images would dominate an
/// average over all images for a long time.
struct Throughput: Sendable {
    /// Oldest first.
    private var samples: [(time: Duration, count: Int)] = [(.zero, 0)]

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
