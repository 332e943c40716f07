import DarkroomQuery
import Foundation
import Testing

@testable import DarkroomCommand

struct CompletionScriptTests {
    private static func script(_ shell: String) throws -> String {
        try #require(Darkroom.completionScript(["--generate-completion-script", shell]))
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `A script completes every setting and every parameter`(shell: String) throws {
        let script = try Self.script(shell)
        for name in SettingsTable.rows.map(\.name) + FileQuery.parameters.map(\.name) {
            #expect(script.contains(shell == "fish" ? "-l '\(name)'" : "--\(name)"), "\(name)")
        }
    }

    @Test func `Other arguments and unknown shells are left to the parser`() {
        #expect(Darkroom.completionScript(["serve", "--generate-completion-script"]) == nil)
        #expect(Darkroom.completionScript(["--generate-completion-script", "csh"]) == nil)
        #expect(Darkroom.completionScript([]) == nil)
    }

    @Test(arguments: [
        ("serve --log-l", "--log-level"), ("serve --port 80 --log-format ", "text json logfmt"),
        ("health --u", "--unix-socket --uploads --url"), ("config print --compat img", "imgproxy"),
        ("transform a.jpg --mask-", ""), ("transform a.jpg --fit co", "cover contain"),
        ("transform a.jpg --flip --mtr", "--mtrim"), ("purge --ad", "--admin-token-file"), ("ser", "serve"),
    ])
    func `Bash completes settings, parameters and their values`(line: String, completions: String) throws {
        let script = try URL.temporaryFile("darkroom.bash", Self.script("bash"))
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
        let bash = Process()
        bash.executableURL = URL(fileURLWithPath: "/bin/bash")
        bash.arguments = [
            "-c",
            """
            source '\(script.path)'
            COMP_LINE='darkroom \(line)' COMP_WORDS=(darkroom \(words.joined(separator: " ")))
            COMP_CWORD=\(words.count) COMP_POINT=${#COMP_LINE}
            _darkroom darkroom "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo -n "${COMPREPLY[*]}"
            """,
        ]
        let output = Pipe()
        bash.standardOutput = output
        try bash.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        bash.waitUntilExit()
        #expect(Set(text.split(separator: " ")) == Set(completions.split(separator: " ")))
    }
}
