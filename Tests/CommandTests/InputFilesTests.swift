import DarkroomRequests
import Foundation
import Testing

@testable import DarkroomCommand

/// Which files `darkroom transform` finds, and where their results go.
@Suite struct InputFilesTests {
    private let folder: URL

    init() throws {
        folder = try URL.temporaryFolder()
    }

    private func create(_ paths: String...) throws {
        for path in paths {
            let url = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(path.utf8).write(to: url)
        }
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent(path).path, withDestinationPath: target)
    }

    /// The files, failures and conflicts as lines without the path of the temporary folder.
    private func find(_ inputs: String..., into target: String = "out", format: OutputFormat? = nil) -> [String] {
        let root = folder.path + "/"
        let found = InputFiles(inputs.map { root + $0 }, into: root + target, names: ResultName(format: format))
        let files = found.files.map { "\($0.source) > \($0.target)\($0.isNamed ? " named" : "")" }
        let lines = files + found.failures.map { "failed: \($0)" } + found.conflicts.map { "conflict: \($0)" }
        return lines.map { $0.replacing(root, with: "") }
    }

    @Test func `A folder keeps its tree, and hidden files are left out`() throws {
        try create("in/b.jpg", "in/a.png", "in/2024/05/c.jpg", "in/.hidden.jpg", "in/.git/d.jpg")
        #expect(
            find("in") == ["in/2024/05/c.jpg > out/2024/05/c.jpg", "in/a.png > out/a.png", "in/b.jpg > out/b.jpg"])
        #expect(find("in/") == find("in"))
        #expect(find("in", format: .webp).last == "in/b.jpg > out/b.webp")
    }

    @Test func `A named file lands in the folder itself, even if it is hidden`() throws {
        try create("in/2024/c.jpg", ".h.jpg")
        #expect(find("in/2024/c.jpg", ".h.jpg") == ["in/2024/c.jpg > out/c.jpg named", ".h.jpg > out/.h.jpg named"])
    }

    @Test func `A pattern keeps the tree below its first wildcard`() throws {
        try create("in/a.jpg", "in/B.JPG", "in/c.png", "in/sub/d.jpg", "in/sub/deep/e.jpg")
        #expect(find("in/*.jpg") == ["in/B.JPG > out/B.JPG", "in/a.jpg > out/a.jpg"])
        #expect(
            find("in/**/*.jpg") == [
                "in/B.JPG > out/B.JPG", "in/a.jpg > out/a.jpg", "in/sub/d.jpg > out/sub/d.jpg",
                "in/sub/deep/e.jpg > out/sub/deep/e.jpg",
            ])
        #expect(find("*/sub/*") == ["in/sub/d.jpg > out/in/sub/d.jpg"])
    }

    @Test func `A file whose name has a wildcard is that file`() throws {
        try create("in/a*.jpg", "in/ab.jpg")
        #expect(find("in/a*.jpg") == ["in/a*.jpg > out/a*.jpg named"])
    }

    @Test func `What does not exist and what matches nothing fails by itself`() throws {
        try create("in/a.jpg")
        #expect(
            find("gone.jpg", "in", "in/*.gif") == [
                "in/a.jpg > out/a.jpg", "failed: gone.jpg cannot be read: No such file or directory.",
                "failed: in/*.gif matches no file.",
            ])
    }

    @Test func `Links to files are files, and links to folders are not followed`() throws {
        try create("in/a.jpg", "other/b.jpg")
        try link("in/loop", to: ".")
        try link("in/other", to: "../other")
        try link("in/link.jpg", to: "../other/b.jpg")
        try link("in/nowhere.jpg", to: "gone.jpg")
        #expect(find("in") == ["in/a.jpg > out/a.jpg", "in/link.jpg > out/link.jpg"])
        #expect(find("in/other") == ["in/other/b.jpg > out/b.jpg"])
    }

    @Test func `Pipes are not opened`() throws {
        try create("in/a.jpg")
        #expect(mkfifo(folder.appendingPathComponent("in/pipe.jpg").path, 0o600) == 0)
        #expect(find("in") == ["in/a.jpg > out/a.jpg"])
    }

    @Test func `Results inside of the input are no inputs`() throws {
        try create("in/a.jpg", "in/out/b.jpg")
        #expect(find("in", into: "in/out") == ["in/a.jpg > in/out/a.jpg"])
    }

    @Test func `Two inputs of one result are a conflict`() throws {
        try create("in/a.jpg", "in/a.png", "a/2024/x.jpg", "b/2024/x.jpg")
        let lines = find("in", format: .webp)
        #expect(lines.first == "in/a.jpg > out/a.webp")
        #expect(lines.last?.hasPrefix("conflict: in/a.jpg and in/a.png have the same result, out/a.webp.") == true)
        #expect(find("a", "b").last?.hasPrefix("conflict: a/2024/x.jpg and b/2024/x.jpg have") == true)
        #expect(find("in").count == 2)
    }

    @Test func `A file that is named twice is one input`() throws {
        try create("in/a.jpg")
        #expect(find("in/a.jpg", "in/a.jpg").count == 1)
        #expect(find("in", "in/*.jpg").count == 1)
    }

    @Test func `A result never takes the place of an input`() throws {
        try create("in/a.jpg", "in/b.png", "raw/a.jpg", "raw/raw/a.jpg")
        let sentence = "would replace an input"
        #expect(find("in", into: "in").last?.contains(sentence) == true)
        #expect(find("in/a.jpg", into: "in").last?.contains(sentence) == true)
        #expect(find("in/*.jpg", into: "in", format: .webp) == ["in/a.jpg > in/a.webp"])
        #expect(find("raw", into: ".").last?.contains(sentence) == true)
    }

    @Test func `A name that is not UTF-8 fails by itself`() throws {
        try create("in/a.jpg")
        let path = Array("\(folder.path)/in/".utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        // Some file systems have no such names.
        guard descriptor >= 0 else { return }
        close(descriptor)
        let lines = find("in")
        #expect(lines.count == 2)
        #expect(lines.first == "in/a.jpg > out/a.jpg")
        #expect(lines.last?.hasSuffix("cannot be read: No such file or directory.") == true)
    }
}
