import Foundation
import Testing

@testable import DarkroomCommand

/// The progress bar of the built executable on a pseudo-terminal.
@Suite(.timeLimit(.minutes(5)))
struct ProgressTerminalTests {
    /// Transforms four files with standard error on a terminal, and returns what the terminal received.
    private func run(_ environment: [String: String]) throws -> (terminal: String, output: String) {
        let folder = try URL.temporaryFolder()
        let input = folder.appendingPathComponent("in")
        try FileManager.default.createDirectory(at: input, withIntermediateDirectories: false)
        for (index, name) in ["sample.jpg", "formats/alpha.png", "sample.jpg", "hostile/truncated.jpg"].enumerated() {
            let target = "\(index).\(name.hasSuffix("png") ? "png" : "jpg")"
            try FileManager.default.copyItem(
                at: URL.fixtures.appendingPathComponent(name), to: input.appendingPathComponent(target))
        }
        let terminal = try PseudoTerminal(columns: 60)
        let output = Pipe()
        let process = try DarkroomProcess.launch(
            ["transform", input.path, folder.appendingPathComponent("out").path, "--w", "50"],
            environment: environment, output: output, errors: terminal.child)
        try terminal.child.close()
        let text = terminal.readToEnd()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(DarkroomProcess.wait(process) == 1)
        return (text, printed)
    }

    /// The line that a terminal shows at the end of what was written to it.
    private func shown(_ text: Substring) -> String {
        let last = text.split(separator: "\r").last ?? ""
        return String(last).replacing("\u{1B}[K", with: "")
    }

    @Test func `A terminal shows a bar of its width, failures above it and the last state`() throws {
        let (terminal, output) = try run(["TERM": "xterm", "NO_COLOR": "1"])
        let lines = terminal.split(separator: "\r\n").map(shown)
        #expect(lines.count == 2, "\(terminal.debugDescription)")
        #expect(lines.first?.hasPrefix("Error: ") == true)
        let bar = try #require(lines.last)
        #expect(bar.contains("100%  4/4") && bar.hasSuffix("1 failed") && bar.count < 60, "\(bar)")
        #expect(output.hasPrefix("Wrote 3 images to "))
        for picture in terminal.split(separator: "\r") where picture.contains("%") {
            #expect(shown(picture).trimmingCharacters(in: .newlines).count < 60, "\(picture.debugDescription)")
        }
    }

    @Test func `Failures are red, unless NO_COLOR is set`() throws {
        let red = "\u{1B}[31m1 failed\u{1B}[0m"
        #expect(try run(["TERM": "xterm-256color", "NO_COLOR": ""]).terminal.contains(red))
        #expect(!(try run(["TERM": "xterm-256color", "NO_COLOR": "1"]).terminal.contains("\u{1B}[31m")))
    }

    @Test func `A dumb terminal has no bar`() throws {
        let (terminal, output) = try run(["TERM": "dumb"])
        #expect(terminal.hasPrefix("Error: ") && terminal.split(separator: "\r\n").count == 1, "\(terminal)")
        #expect(output.hasPrefix("Wrote 3 images to "))
    }
}

/// A pseudo-terminal (pty(7)).
private final class PseudoTerminal {
    /// The end that a process takes for a terminal.
    let child: FileHandle
    private let parent: Int32

    struct Failure: Error {
        let code: Int32
    }

    init(columns: UInt16) throws {
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        var (parent, child): (Int32, Int32) = (-1, -1)
        guard openpty(&parent, &child, nil, nil, &size) == 0 else { throw Failure(code: errno) }
        self.parent = parent
        self.child = FileHandle(fileDescriptor: child, closeOnDealloc: true)
    }

    deinit { close(parent) }

    /// What was written until the last process has closed its end.
    func readToEnd() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        // On Linux the end is EIO.
        while case let count = read(parent, &buffer, buffer.count), count > 0 { bytes += buffer.prefix(count) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
