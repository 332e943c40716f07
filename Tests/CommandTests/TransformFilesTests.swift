import DarkroomTransforms
import Foundation
import NIOCore
import Testing

@testable import DarkroomCommand

/// `darkroom transform` on many files, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct TransformFilesTests {
    private let folder: URL

    /// A line of `--json`.
    private struct Line: Decodable {
        var file: String?
        var status: String?
        var output: String?
        var format: String?
        var width: Int?
        var height: Int?
        var sourceBytes: Int?
        var bytes: Int?
        var reason: String?
        var error: String?
        var summary: Summary?

        struct Summary: Decodable, Equatable {
            var total: Int
            var written: Int
            var skipped: Int
            var failed: Int
            var stopped: String?
        }
    }

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

    private static func lines(_ output: String) throws -> [Line] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try output.split(separator: "\n").map { try decoder.decode(Line.self, from: Data($0.utf8)) }
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

    @Test func `With --json there is a line for each file and a last one with the counts`() throws {
        try copy("sample.jpg", to: "in/a.jpg")
        try copy("hostile/truncated.png", to: "in/b.png")
        try Data("notes".utf8).write(to: folder.appendingPathComponent("in/notes.txt"))
        let run = try DarkroomProcess.run(["transform", path("in"), path("out"), "--w", "50", "--json"])
        #expect(run.status == 1)
        #expect(run.errors.isEmpty)
        let lines = try Self.lines(run.output)
        #expect(lines.last?.summary == Line.Summary(total: 3, written: 1, skipped: 1, failed: 1))
        let files = Dictionary(uniqueKeysWithValues: lines.dropLast().map { ($0.file ?? "", $0) })
        let written = try #require(files[path("in/a.jpg")])
        #expect(written.status == "written" && written.output == path("out/a.jpg") && written.format == "jpg")
        #expect(written.width == 50 && written.height == 33)
        #expect(written.bytes == (try Data(contentsOf: folder.appendingPathComponent("out/a.jpg")).count))
        #expect(files[path("in/b.png")]?.status == "failed")
        #expect(files[path("in/b.png")]?.error?.contains("corrupt or truncated") == true)
        #expect(files[path("in/notes.txt")]?.reason == "not-an-image")
    }

    @Test func `Every fixture is written, skipped or failed as the server answers it`() throws {
        let fixtures = try Fixture.all()
        for (index, fixture) in fixtures.enumerated() {
            try copy(fixture.path, to: "in/\(index)/" + (fixture.path.split(separator: "/").last ?? ""))
        }
        let run = try DarkroomProcess.run(["transform", path("in"), path("out"), "--w", "32", "--json"])
        let lines = try Self.lines(run.output)
        #expect(lines.count == fixtures.count + 1)
        for line in lines.dropLast() {
            let number = line.file?.split(separator: "/").dropLast().last.flatMap { Int($0) } ?? 0
            let fixture = fixtures[number]
            let status = ["decode": "written", "unsupported": "skipped"][fixture.outcome, default: "failed"]
            #expect(line.status == status, "\(fixture.path) \(line.error ?? "")")
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
        (["a.jpg", "-", "--nope", "3"], 64, "'nope'"), (["a.jpg", "-", "--json"], 64, "either the image or --json"),
        (["a.jpg", "b.jpg"], 1, "b.jpg exists already; --overwrite replaces it."),
        (["in", "in"], 1, "would replace it."),
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

    @Test func `A single file has a line of JSON, too, and overwrites only where that is meant`() throws {
        try copy("sample.jpg", to: "a.jpg")
        let words = ["transform", path("a.jpg"), path("b.webp"), "--w", "40"]
        let first = try Self.lines(DarkroomProcess.run(words + ["--json"]).output)
        #expect(first.first?.status == "written" && first.last?.summary?.written == 1)
        let second = try DarkroomProcess.run(words + ["--json"])
        #expect(second.status == 1)
        let error = try Self.lines(second.output).first?.error
        #expect(error?.hasSuffix("b.webp exists already; --overwrite replaces it.") == true)
        #expect(try DarkroomProcess.run(words + ["--overwrite"]).status == 0)
        #expect(try DarkroomProcess.run(["transform", path("a.jpg"), path("new") + "/", "--w", "40"]).status == 0)
        #expect(files("new") == ["a.jpg"])
        #expect(try DarkroomProcess.run(["transform", path("a.jpg"), "/dev/null", "--w", "40"]).status == 0)
        #expect(try FileStatus(of: "/dev/null").kind == .special)
    }

    @Test func `Ctrl-C ends the run with status 130 and without half-written files`() async throws {
        for number in 0..<60 { try copy("sample.jpg", to: "in/\(number).jpg") }
        let output = Pipe()
        let process = try DarkroomProcess.launch(
            ["transform", path("in"), path("out"), "--output", "avif", "--json"], output: output, errors: Pipe())
        let lines = Lines(output.fileHandleForReading)
        var read = [try #require(await lines.next())]
        kill(process.processIdentifier, SIGINT)
        while let line = await lines.next() { read.append(line) }
        #expect(DarkroomProcess.wait(process) == 130)
        let parsed = try Self.lines(read.joined(separator: "\n"))
        let summary = try #require(parsed.last?.summary)
        #expect(summary.stopped == "Interrupted." && summary.total == 60 && summary.failed == 0)
        #expect(summary.written < 60 && summary.written == parsed.count - 1)
        #expect(files("out").count == summary.written)
        for file in files("out") { #expect(try header("out/\(file)").format == .avif) }
    }
}
