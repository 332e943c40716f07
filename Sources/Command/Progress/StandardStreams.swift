import ArgumentParser
import Foundation
import NIOCore

/// The standard streams of a command. Any of them may be closed, full, or a pipe without a reader, which must not end
/// the process in the middle of its work: neither `FileHandle.write(_:)` nor `print` is used, since the first traps
/// and the second hides the loss.
enum StandardStreams {
    /// Prepares the process for such streams. To be called before any file is opened.
    static func prepare() {
        // A file that takes the place of a closed stream would receive its text. Reads and writes fail as before.
        let streams = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        for (descriptor, mode) in streams where fcntl(descriptor, F_GETFD) < 0 { _ = open("/dev/null", mode) }
        // The calls that write report a pipe without a reader, and a file as large as allowed (`ulimit -f`).
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    }
}

/// Standard output, where commands print their result.
enum StandardOutput {
    /// Prints a line. Throws as ``write(_:)`` does.
    static func print(_ line: String) throws(ExitCode) { try write(ByteBuffer(string: line + "\n")) }

    /// Writes bytes. If that fails, reports why and throws the exit status: 141 without a report if the reader has
    /// gone, as shells report a process that SIGPIPE ended, else 1.
    static func write(_ bytes: ByteBuffer) throws(ExitCode) {
        let failure = ResultFile.write(bytes, to: STDOUT_FILENO)
        guard failure != 0 else { return }
        guard failure != EPIPE else { throw ExitCode(128 + SIGPIPE) }
        StandardError.write(FileError("Standard output", .written, code: failure).sentence)
        throw ExitCode.failure
    }

    /// Prints a line of a command whose result is its exit status. A probe, or the reload of a service, must not fail
    /// because the line cannot be written.
    static func note(_ line: String) { _ = ResultFile.write(ByteBuffer(string: line + "\n"), to: STDOUT_FILENO) }
}

/// Standard error, where commands report what went wrong. What cannot be written is dropped.
enum StandardError {
    /// Writes one line that begins with `Error:`.
    static func write(_ sentence: String) { write(text: "Error: \(sentence)\n") }

    static func write(text: String) { _ = ResultFile.write(ByteBuffer(string: text), to: STDERR_FILENO) }
}
