import Foundation
import Testing

@testable import DarkroomCommand

@Suite struct ProgressBarTests {
    private let bar = ProgressBar(isColored: false)

    @Test(
        arguments: [
            (0, 120, 0, nil, "[........................................]    0%  0/120"),
            (60, 120, 0, 8.4, "[####################....................]   50%  60/120  8.4/s  8 s left"),
            (119, 120, 2, 120, "[#######################################.]   99%  119/120  120/s  1 s left  2 failed"),
            (120, 120, 0, 120, "[########################################]  100%  120/120  120/s"),
            (0, 0, 0, nil, "[########################################]  100%  0/0"),
            (
                1, 1000, 1, 0.5,
                "[........................................]    0%  1/1000  30/min  33:18 min left  1 failed"
            ),
            (5, 10_000, 0, 0.01, "[........................................]    0%  5/10000  36/h  11 days left"),
            (
                9_000, 10_000, 0, 0.1,
                "[####################################....]   90%  9000/10000  6.0/min  2:46 h left"
            ),
            (7, 5, 0, 1, "[########################################]  100%  7/5  1.0/s"),
        ] as [(Int, Int, Int, Double?, String)])
    func `The line shows how far the work is, its rate, the time left and failures`(
        finished: Int, total: Int, failed: Int, rate: Double?, line: String
    ) {
        let progress = WorkProgress(total: total, finished: finished, failed: failed)
        #expect(bar.line(progress, rate: rate, columns: 200) == line)
    }

    @Test(arguments: [
        (84, "[####################....................]   50%  60/120  8.4/s  8 s left  3 failed"),
        (60, "[########........]   50%  60/120  8.4/s  8 s left  3 failed"),
        (50, " 50%  60/120  8.4/s  8 s left  3 failed"), (40, " 50%  60/120  8.4/s  8 s left  3 failed"),
        (36, " 50%  60/120  8 s left  3 failed"), (30, " 50%  60/120  3 failed"), (20, "60/120  3 failed"),
        (10, "60/120  3"), (4, "60/"), (1, ""), (0, ""),
    ])
    func `The line fits into the terminal`(columns: Int, line: String) {
        let text = bar.line(WorkProgress(total: 120, finished: 60, failed: 3), rate: 8.4, columns: columns)
        #expect(text.count <= max(columns - 1, 0))
        #expect(text == line)
    }

    @Test func `While files are counted, the line shows how many`() {
        #expect(bar.line(WorkProgress(finished: 1234), rate: nil, columns: 80) == "1234 files found")
        #expect(bar.line(WorkProgress(finished: 1234), rate: nil, columns: 8) == "1234 fi")
    }

    @Test func `Failures are red where color is wanted`() {
        let progress = WorkProgress(total: 2, finished: 1, failed: 1)
        let colored = ProgressBar(isColored: true)
        #expect(colored.line(progress, rate: nil, columns: 30).hasSuffix("  \u{1B}[31m1 failed\u{1B}[0m"))
        #expect(colored.line(progress, rate: nil, columns: 8) == "1/2  1 ")
        #expect(!colored.line(WorkProgress(total: 2, finished: 1, failed: 0), rate: 1, columns: 80).contains("\u{1B}"))
    }
}

@Suite struct ThroughputTests {
    @Test func `The rate covers the last seconds`() {
        var throughput = Throughput()
        #expect(throughput.perSecond == nil)
        throughput.record(0, at: .seconds(1))
        #expect(throughput.perSecond == nil)
        throughput.record(10, at: .seconds(2))
        #expect(throughput.perSecond == 5)
        for second in 3...40 { throughput.record(10 + (second - 2) * 2, at: .seconds(second)) }
        #expect(throughput.perSecond == 2)
        for second in 41...60 { throughput.record(86, at: .seconds(second)) }
        #expect(throughput.perSecond == nil)
    }
}

@Suite struct QuantitiesTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (9_960, "10 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"),
        (312_400_000, "312 MB"), (5_100_000_000, "5.1 GB"), (12_000_000_000_000, "12 TB"),
    ])
    func `Bytes are written in powers of 1,000`(bytes: Int, text: String) {
        #expect(ByteText(bytes).description == text)
    }

    @Test(arguments: [
        (Duration.milliseconds(40), "40 ms"), (.milliseconds(240), "0.2 s"), (.milliseconds(1_250), "1.3 s"),
        (.seconds(14.4), "14 s"),
        (.seconds(90), "1:30 min"), (.seconds(7_500), "2:05 h"), (.seconds(200_000), "2 days"),
    ])
    func `Times are written in a unit that fits`(time: Duration, text: String) {
        #expect(DurationText.seconds(time) == text)
    }
}

@Suite struct TerminalTests {
    @Test(
        arguments: [
            (true, ["TERM": "xterm"], true), (false, ["TERM": "xterm"], nil), (true, ["TERM": "dumb"], nil),
            (true, [:], nil),
            (true, ["TERM": ""], nil), (true, ["TERM": "xterm", "NO_COLOR": "1"], false),
            (true, ["TERM": "xterm", "NO_COLOR": ""], true),
        ] as [(Bool, [String: String], Bool?)])
    func `A bar needs a terminal that can redraw a line`(
        isTerminal: Bool, environment: [String: String], isColored: Bool?
    ) {
        #expect(Terminal(isTerminal: isTerminal, environment: environment)?.isColored == isColored)
    }

    @Test(
        arguments: [
            (120, [:], 120), (120, ["COLUMNS": "40"], 120), (0, ["COLUMNS": "40"], 40), (0, ["COLUMNS": "x"], 80),
            (0, [:], 80),
            (0, ["COLUMNS": "-1"], 80),
        ] as [(Int, [String: String], Int)])
    func `The width comes from the terminal, or else from the environment`(
        reported: Int, environment: [String: String], columns: Int
    ) {
        #expect(Terminal.columns(reported: reported, environment: environment) == columns)
    }
}
