import Foundation
import NIOCore
import Synchronization

/// What a command prints: lines on standard output, errors on standard error and, if that is a terminal, a progress bar
/// below them.
final class CommandOutput: Sendable {
    enum Stream: Sendable {
        case output, errors
    }

    /// Writes a text; returns an `errno`, or 0.
    typealias Write = @Sendable (String, Stream) -> Int32

    private struct State {
        /// The bar on the screen; empty = none.
        var bar = ""
        var throughput = Throughput()
    }

    private let terminal: Terminal?
    private let columns: @Sendable () -> Int
    private let write: Write
    private let elapsed: @Sendable () -> Duration
    /// Waits until the bar is due again; false after cancellation.
    private let pause: @Sendable () async -> Bool
    private let stop: StopFlag
    private let state = Mutex(State())

    /// The time between two updates of the bar.
    static let interval = Duration.milliseconds(100)

    convenience init(stop: StopFlag) {
        let terminal = Terminal(environment: ProcessInfo.processInfo.environment)
        let columns = { @Sendable in terminal?.columns ?? 80 }
        self.init(terminal, stop: stop, columns: columns) { text, stream in
            ResultFile.write(ByteBuffer(string: text), to: stream == .output ? STDOUT_FILENO : STDERR_FILENO)
        }
    }

    /// - Parameters:
    ///   - terminal: takes the bar; nil = there is no bar.
    ///   - stop: is set when standard output is closed.
    init(
        _ terminal: Terminal?, stop: StopFlag, columns: @escaping @Sendable () -> Int,
        clock: some Clock<Duration> = ContinuousClock(), write: @escaping Write
    ) {
        self.terminal = terminal
        self.stop = stop
        self.columns = columns
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        pause = { (try? await clock.sleep(for: Self.interval)) != nil }
        self.write = write
    }

    /// Prints a line on standard output.
    func print(_ line: String) {
        let failure = state.withLock { state in
            clear(&state)
            return write(line + "\n", .output)
        }
        if failure != 0 { stop.set(.failure("Standard output: \(String(cString: strerror(failure))).")) }
    }

    /// Prints a line that begins with `Error:` on standard error.
    func printError(_ sentence: String) {
        state.withLock { state in
            clear(&state)
            _ = write("Error: \(Self.printable(sentence))\n", .errors)
        }
    }

    /// Draws the bar again and again until the body returns, and a last time then. The bar of a body that throws is
    /// erased.
    func showing<Result: Sendable>(
        _ progress: @escaping @Sendable () -> WorkProgress, while body: @Sendable () async throws -> Result
    ) async rethrows -> Result {
        guard terminal != nil else { return try await body() }
        let drawing = Task { await draw(progress) }
        do {
            let result = try await body()
            drawing.cancel()
            await drawing.value
            let last = progress()
            state.withLock { state in
                show(last, &state)
                _ = write("\n", .errors)
                state.bar = ""
            }
            return result
        } catch {
            drawing.cancel()
            await drawing.value
            state.withLock { clear(&$0) }
            throw error
        }
    }

    /// Does work as above, which the first SIGINT or SIGTERM cancels.
    func showing<Result: Sendable>(
        _ progress: @escaping @Sendable () -> WorkProgress, untilStopped work: @escaping @Sendable () async -> Result
    ) async -> Result {
        let task = Task { await showing(progress, while: work) }
        let signals = await stop.watchSignals { task.cancel() }
        defer { signals.cancel() }
        return await task.value
    }

    /// Prints why a command was stopped, and what it left.
    ///
    /// - Returns: its exit status; nil if it was not stopped.
    func endIfStopped(leaving count: Int, _ noun: String) -> Int32? {
        guard let reason = stop.reason else { return nil }
        printError("\(reason.sentence) \(FileTally.counted(count, noun)) left.")
        return reason.status
    }

    /// Text without control characters, which names of files and URLs may have and terminals obey.
    static func printable(_ text: String) -> String {
        let isUnsafe = { (scalar: Unicode.Scalar) in
            [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        return String(
            text.unicodeScalars.flatMap { scalar -> [Character] in
                isUnsafe(scalar) ? Array("\\u{\(String(scalar.value, radix: 16))}") : [Character(scalar)]
            })
    }

    private func draw(_ progress: @Sendable () -> WorkProgress) async {
        repeat {
            let progress = progress()
            state.withLock { state in
                if progress.total != nil { state.throughput.record(progress.finished, at: elapsed()) }
                show(progress, &state)
            }
        } while await pause()
    }

    private func show(_ progress: WorkProgress, _ state: inout State) {
        let bar = ProgressBar(isColored: terminal?.isColored ?? false)
            .line(progress, rate: state.throughput.perSecond, columns: columns())
        guard bar != state.bar else { return }
        // The rest of the line is erased after the text, so that nothing flickers.
        _ = write("\r\(bar)\u{1B}[K", .errors)
        state.bar = bar
    }

    private func clear(_ state: inout State) {
        guard !state.bar.isEmpty else { return }
        _ = write("\r\u{1B}[K", .errors)
        state.bar = ""
    }
}

/// A terminal on standard error that can redraw a line.
struct Terminal: Sendable {
    /// Whether text may have color (no-color.org).
    let isColored: Bool
    private let environment: [String: String]

    /// Nil if standard error is not a terminal, or a terminal that cannot move its cursor.
    init?(isTerminal: Bool = isatty(STDERR_FILENO) == 1, environment: [String: String]) {
        guard isTerminal, let type = environment["TERM"], !type.isEmpty, type != "dumb" else { return nil }
        isColored = environment["NO_COLOR", default: ""].isEmpty
        self.environment = environment
    }

    /// The current number of columns.
    var columns: Int {
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0
        return Self.columns(reported: isKnown ? Int(size.ws_col) : 0, environment: environment)
    }

    /// The number of columns that the terminal reports, or else the number in `COLUMNS`, or else 80.
    static func columns(reported: Int, environment: [String: String]) -> Int {
        if reported > 0 { return reported }
        return environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
    }
}

/// The lines of `--json`.
enum JSONLine {
    /// A value as one line of JSON, with names in snake case.
    static func encoded(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
