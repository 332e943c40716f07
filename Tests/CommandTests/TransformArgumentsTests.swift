import ArgumentParser
import Testing

@testable import DarkroomCommand

@Suite struct TransformArgumentsTests {
    /// The parameters as `name=value`, or the name alone.
    private func parameters(_ words: [String]) throws -> [String] {
        try TransformArguments(words).parameters.map { $0.name + ($0.value.map { "=\($0)" } ?? "") }
    }

    @Test func `Paths, parameters and flags may come in any order`() throws {
        let words = ["--w", "400", "a.jpg", "--flip", "b.jpg", "out", "--fit=cover", "--overwrite"]
        let arguments = try TransformArguments(words)
        #expect(arguments.paths == ["a.jpg", "b.jpg", "out"])
        #expect(arguments.overwrites)
        #expect(try parameters(words) == ["w=400", "flip", "fit=cover"])
        #expect(try !TransformArguments(["a", "b"]).overwrites)
    }

    @Test func `A parameter that may stand alone takes only numbers`() throws {
        #expect(try parameters(["--trim", "a.jpg", "out"]) == ["trim"])
        #expect(try parameters(["--trim", "20", "a.jpg", "out"]) == ["trim=20"])
        #expect(try parameters(["a", "b", "--text="]) == ["text="])
    }

    @Test func `The help lists the parameters by theme, and no parameter of a source or of caches`() {
        let help = TransformFiles.helpMessage(columns: 100)
        for words in ["size: --w --h", "effects: --redact --blur", "encoding: --output", "--fit", "--duotone", "--q"] {
            #expect(help.contains(words), "\(words)")
        }
        for name in ["--url", "--markw", "--maxage"] { #expect(!help.contains(name), "\(name)") }
    }

    @Test func `Words after two dashes are paths`() throws {
        let arguments = try TransformArguments(["--w", "40", "--", "--odd.jpg", "out"])
        #expect(arguments.paths == ["--odd.jpg", "out"])
    }

    @Test(arguments: [
        (["a.jpg"], "Expected at least two paths, IN and OUT."), ([], "Expected at least two paths, IN and OUT."),
        (["--with", "400", "out"], "'with'"),
        (["a", "b", "--overwrite=no"], "'--overwrite' takes no value."),
    ])
    func `What cannot be meant is refused`(words: [String], sentence: String) {
        let error = #expect(throws: ValidationError.self) { try TransformArguments(words) }
        #expect(error?.message.contains(sentence) == true, "\(error?.message ?? "")")
    }
}
