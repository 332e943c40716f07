import Foundation

/// A terminal on standard error that can redraw a line.
struct Terminal: Sendable {
    /// Whether text may have color (no-color.org).
    let isColored: Bool
    private let environment: [String: String]

    /// Nil if standard error is no terminal, or one that cannot move its cursor.
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
