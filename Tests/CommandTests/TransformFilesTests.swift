import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import Testing

@testable import DarkroomCommand

/// `darkroom transform` on many files, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct TransformFilesTests {
    private let folder: URL

    init() throws {
        folder = try URL.temporaryFolder()
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func copy(_ fixture: String, to name: String) throws {
        let target = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: URL.fixtures.appendingPathComponent(fixture), to: target)
    }

    /// The regular files below a folder, hidden ones included.
    private func files(_ name: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: path(name))?.compactMap { $0 as? String } ?? []
        return names.filter { (try? FileStatus(of: path("\(name)/\($0)")).kind) == .file }.sorted()
    }

    private func header(_ name: String) throws -> SourceHeader {
        try SourceHeader(of: ByteBuffer(bytes: try Data(contentsOf: folder.appendingPathComponent(name))))
    }

    @Test func `A folder is transformed with its tree, and what is no image is left out`() throws {
        try copy("sample.jpg", to: "in/a.jpg")
        try copy("formats/alpha.png", to: "in/deep/er/b.png")
        try copy("formats/photo.webp", to: "in/c.WEBP")
        try Data("notes".utf8).write(to: folder.appendingPathComponent("in/notes.txt"))
        let run = try DarkroomProcess.run(["transform", path("in") + "/", path("new/out"), "--w", "50"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.isEmpty)
        #expect(files("new/out") == ["a.jpg", "c.WEBP", "deep/er/b.png"])
        for (name, format) in [("a.jpg", SourceFormat.jpeg), ("c.WEBP", .webp), ("deep/er/b.png", .png)] {
            let header = try header("new/out/\(name)")
            #expect(header.format == format && header.size.width == 50)
        }
        let summary = /Wrote 3 images to .*new\/out in .* m?s \(.*B to .*B\)\. 1 skipped: 1 not an image\.\n/
        #expect(run.output.wholeMatch(of: summary) != nil, "\(run.output)")
    }

    @Test func `A failed file fails itself alone, is named, and gives status 1`() throws {
        try copy("sample.jpg", to: "in/a.jpg")
        try copy("hostile/truncated.jpg", to: "in/b.jpg")
        try Data("no image".utf8).write(to: folder.appendingPathComponent("c.jpg"))
        let run = try DarkroomProcess.run([
            "transform", path("in"), path("c.jpg"), path("gone.jpg"), path("out"), "--w", "50", "--output", "webp",
        ])
        #expect(run.status == 1)
        #expect(files("out") == ["a.webp"])
        let errors = run.errors.split(separator: "\n").map { $0.replacing(folder.path, with: "") }.sorted()
        #expect(errors.count == 3)
        #expect(errors[0].hasPrefix("Error: /c.jpg: The input is not an image in a supported format."))
        #expect(errors[1].hasPrefix("Error: /gone.jpg cannot be read: No such file or directory."))
        #expect(errors[2].hasPrefix("Error: /in/b.jpg: The input is corrupt or truncated"))
        #expect(run.output.hasSuffix("3 failed.\n"))
    }

    @Test func `Existing results are kept, unless they may be overwritten`() throws {
        try copy("sample.jpg", to: "in/a.jpg")
        try copy("sample.jpg", to: "in/b.jpg")
        try FileManager.default.createDirectory(atPath: path("out"), withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: folder.appendingPathComponent("out/a.jpg"))
        let words = ["transform", path("in"), path("out"), "--w", "50"]
        let first = try DarkroomProcess.run(words)
        #expect(first.status == 0)
        #expect(first.output.contains("1 skipped: 1 exists already (--overwrite replaces)."))
        #expect(try Data(contentsOf: folder.appendingPathComponent("out/a.jpg")) == Data("mine".utf8))
        let second = try DarkroomProcess.run(words + ["--overwrite"])
        #expect(second.status == 0)
        #expect(second.output.hasPrefix("Wrote 2 images"))
        #expect(try header("out/a.jpg").size.width == 50)
        #expect(files("out") == ["a.jpg", "b.jpg"])
    }

    @Test func `Two inputs of one result stop everything before it begins`() throws {
        try copy("sample.jpg", to: "in/a.jpg")
        try copy("formats/alpha.png", to: "in/a.png")
        try copy("formats/alpha.png", to: "in/b.png")
        let run = try DarkroomProcess.run(["transform", path("in"), path("out"), "--output", "webp"])
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("/in/a.jpg and "))
        #expect(run.errors.hasSuffix("Error: Nothing was written.\n"))
        #expect(!FileManager.default.fileExists(atPath: path("out")))
    }

    @Test func `Every fixture is written, skipped or failed as the server answers it`() throws {
        let fixtures = try Fixture.all()
        for (index, fixture) in fixtures.enumerated() {
            try copy(fixture.path, to: "in/\(index)/" + (fixture.path.split(separator: "/").last ?? ""))
        }
        let run = try DarkroomProcess.run(["transform", path("in"), path("out"), "--w", "32"])
        #expect(run.status == 1)
        for (index, fixture) in fixtures.enumerated() {
            let isFailed = run.errors.contains(path("in/\(index)/"))
            let status = files("out/\(index)").isEmpty ? isFailed ? "failed" : "skipped" : "written"
            let expected = ["decode": "written", "unsupported": "skipped"][fixture.outcome, default: "failed"]
            #expect(status == expected, "\(fixture.path)")
        }
    }

    @Test func `Formats that are texts become text files`() throws {
        try copy("sample.jpg", to: "in/a.jpg")
        for (format, name) in [("json", "a.json"), ("blurhash", "a.txt")] {
            let run = try DarkroomProcess.run(["transform", path("in"), path(format), "--output", format])
            #expect(run.status == 0, "\(run.errors)")
            #expect(files(format) == [name])
        }
    }

    @Test(arguments: [
        (["in", "a.jpg"], 64, "a.jpg is not a folder; several images need one."),
        (["a.jpg", "a.jpg", "a.jpg"], 64, "a.jpg is not a folder; several images need one."),
        (["in", "-"], 64, "in is a folder."), (["-", "in"], 64, "Standard input has no name"),
        (["in", "out", "--w", "0"], 64, "'w'"), (["in", "out", "--output", "bmp"], 64, "'output'"),
        (["a.jpg", "-", "--nope", "3"], 64, "'nope'"),
        (["a.jpg", "b.jpg"], 1, "b.jpg exists already; --overwrite replaces it."),
        (["in", "in"], 1, "would replace an input"),
    ])
    func `What cannot work is refused before anything is written`(
        words: [String], status: Int32, sentence: String
    ) throws {
        try copy("sample.jpg", to: "in/a.jpg")
        try copy("sample.jpg", to: "a.jpg")
        try copy("sample.jpg", to: "b.jpg")
        let words = words.map { ["in", "out", "a.jpg", "b.jpg"].contains($0) ? path($0) : $0 }
        let run = try DarkroomProcess.run(["transform"] + words)
        #expect(run.status == status)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("Error: ") && run.errors.contains(sentence), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: path("out")))
        #expect(try header("b.jpg").size == PixelSize(width: 1067, height: 1600))
    }

    @Test func `A single file is replaced only where that is meant`() throws {
        try copy("sample.jpg", to: "a.jpg")
        let words = ["transform", path("a.jpg"), path("b.webp"), "--w", "40"]
        #expect(try DarkroomProcess.run(words).status == 0)
        let second = try DarkroomProcess.run(words)
        #expect(second.status == 1 && second.errors.hasSuffix("b.webp exists already; --overwrite replaces it.\n"))
        #expect(try DarkroomProcess.run(words + ["--overwrite"]).status == 0)
        #expect(try DarkroomProcess.run(["transform", path("a.jpg"), path("new") + "/", "--w", "40"]).status == 0)
        #expect(files("new") == ["a.jpg"])
        #expect(try DarkroomProcess.run(["transform", path("a.jpg"), "/dev/null", "--w", "40"]).status == 0)
        #expect(try FileStatus(of: "/dev/null").kind == .special)
    }

    @Test func `Ctrl-C ends the run with status 130 and without half-written files`() async throws {
        for number in 0..<60 { try copy("sample.jpg", to: "in/\(number).jpg") }
        let output = Pipe()
        let errors = Pipe()
        let process = try DarkroomProcess.launch(
            ["transform", path("in"), path("out"), "--output", "avif"], output: output, errors: errors)
        while files("out").isEmpty { await Task.yield() }
        kill(process.processIdentifier, SIGINT)
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let told = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(DarkroomProcess.wait(process) == 130)
        let written = files("out").count
        #expect(written < 60 && printed.hasPrefix("Wrote \(written) image"))
        #expect(told == "Error: Interrupted. \(60 - written) files left.\n")
        for file in files("out") { #expect(try header("out/\(file)").format == .avif) }
    }
}
