import DarkroomTestClock
import Foundation
import Synchronization
import Testing

@testable import DarkroomCommand

/// What commands print, with and without a progress bar.
@Suite(.timeLimit(.minutes(5)))
struct CommandOutputTests {
    private let recorder = Recorder()
    private let stop = StopFlag()

    private func output(_ environment: [String: String]?, clock: TestClock = TestClock()) -> CommandOutput {
        let terminal = environment.flatMap { Terminal(isTerminal: true, environment: $0) }
        let columns = { @Sendable in 41 }
        return CommandOutput(terminal, stop: stop, columns: columns, clock: clock) { [recorder] text, stream in
            recorder.record(text, stream)
        }
    }

    @Test func `Without a terminal there are lines only`() async {
        let output = output(nil)
        await output.showing {
            WorkProgress(total: 1, finished: 0, failed: 0)
        } while: {
            output.print("line")
            output.printError("It failed.")
        }
        #expect(recorder.texts == ["out: line\n", "err: Error: It failed.\n"])
    }

    @Test func `The bar is redrawn where it changes, and stays at the end`() async {
        let clock = TestClock()
        let done = Mutex(0)
        let output = output(["TERM": "xterm", "NO_COLOR": "1"], clock: clock)
        await output.showing {
            WorkProgress(total: 2, finished: done.withLock(\.self), failed: 0)
        } while: {
            await clock.passSleeps(3)
            done.withLock { $0 = 1 }
            await clock.passSleeps(2)
            done.withLock { $0 = 2 }
        }
        let empty = String(repeating: ".", count: 27)
        #expect(recorder.texts.first == "err: \r[\(empty)]    0%  0/2\u{1B}[K")
        #expect(recorder.texts.count { $0.contains("0/2") } == 1)
        #expect(recorder.texts.count { $0.contains("1/2") } >= 1)
        #expect(recorder.texts.dropLast().last?.contains("100%  2/2") == true)
        #expect(recorder.texts.last == "err: \n")
    }

    @Test func `A line takes the place of the bar, which is drawn below it again`() async {
        let clock = TestClock()
        let output = output(["TERM": "xterm"], clock: clock)
        await output.showing {
            WorkProgress(total: 2, finished: 1, failed: 0)
        } while: {
            await clock.passSleeps(1)
            output.print("line")
            await clock.passSleeps(1)
        }
        let texts = recorder.texts
        let line = texts.firstIndex(of: "out: line\n") ?? 0
        #expect(texts[line - 1] == "err: \r\u{1B}[K")
        #expect(texts[line + 1].hasPrefix("err: \r") && texts[line + 1].contains("1/2"))
    }

    @Test func `The bar of a failure is erased`() async {
        struct Failure: Error {}
        let clock = TestClock()
        let output = output(["TERM": "xterm"], clock: clock)
        await #expect(throws: Failure.self) {
            try await output.showing {
                WorkProgress(finished: 7)
            } while: {
                await clock.passSleeps(1)
                throw Failure()
            }
        }
        #expect(recorder.texts.first == "err: \r7 files found\u{1B}[K")
        #expect(recorder.texts.last == "err: \r\u{1B}[K")
    }

    @Test func `A closed output stops the work`() {
        recorder.failure = EPIPE
        output(nil).print("line")
        #expect(stop.reason == .failure("Standard output: Broken pipe."))
    }

    @Test func `Errors have no characters that a terminal obeys`() {
        output(nil).printError("a\u{1B}[2J\n\u{202E}b ä.jpg: bad")
        #expect(recorder.texts == ["err: Error: a\\u{1b}[2J\\u{a}\\u{202e}b ä.jpg: bad\n"])
    }
}

@Suite struct StopFlagTests {
    @Test func `The first reason counts`() {
        let flag = StopFlag()
        #expect(!flag.isSet)
        flag.set(.signal(SIGINT))
        flag.set(.failure("Full."))
        #expect(flag.reason == .signal(SIGINT))
        #expect(flag.reason?.status == 130)
        #expect(StopReason.signal(SIGTERM).status == 143)
        #expect(StopReason.failure("Full.").status == 1)
    }
}

/// Keeps what is written.
private final class Recorder: Sendable {
    private let state = Mutex<(texts: [String], failure: Int32)>(([], 0))

    var texts: [String] { state.withLock(\.texts) }
    var failure: Int32 {
        get { state.withLock(\.failure) }
        set { state.withLock { $0.failure = newValue } }
    }

    func record(_ text: String, _ stream: CommandOutput.Stream) -> Int32 {
        state.withLock { state in
            state.texts.append("\(stream == .output ? "out" : "err"): \(text)")
            return state.failure
        }
    }
}
