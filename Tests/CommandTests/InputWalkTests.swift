import DarkroomTransforms
import Foundation
import Testing

@testable import DarkroomCommand

/// Which files `darkroom transform` finds, and where their results go.
@Suite struct InputWalkTests {
    private let folder: URL

    init() throws {
        folder = try URL.temporaryFolder()
    }

    /// Creates files, which are images if their extensions say so.
    private func create(_ paths: String...) throws {
        for path in paths {
            let url = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            let isImage = ["jpg", "png", "webp"].contains(url.pathExtension.lowercased())
            // A signature is all that is looked at.
            try (isImage ? Data([0xFF, 0xD8, 0xFF, 0xE0]) : Data("no image".utf8)).write(to: url)
        }
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent(path).path, withDestinationPath: target)
    }

    /// The entries as lines without the path of the temporary folder.
    private func walk(_ inputs: String..., into target: String = "out", format: OutputFormat? = nil) -> [String] {
        let root = folder.path + "/"
        var walk = InputWalk(
            Inputs(inputs.map { root + $0 }), into: root + target, names: ResultName(format: format))
        var lines: [String] = []
        while let entry = walk.next() {
            let line =
                switch entry {
                case .file(let file): "\(file.source) > \(file.target)\(file.isNamed ? " named" : "")"
                case .failed(_, let sentence): "failed: \(sentence)"
                case .skipped(let path, let reason): "skipped: \(path) \(reason.rawValue)"
                case .conflict(let conflict): "conflict: \(conflict.sentence)"
                }
            lines.append(line.replacing(root, with: ""))
        }
        return lines
    }

    @Test func `A folder keeps its tree, and hidden files are left out`() throws {
        try create("in/b.jpg", "in/a.png", "in/2024/05/c.jpg", "in/.hidden.jpg", "in/.git/d.jpg")
        #expect(
            walk("in") == ["in/a.png > out/a.png", "in/b.jpg > out/b.jpg", "in/2024/05/c.jpg > out/2024/05/c.jpg"])
        #expect(walk("in/") == walk("in"))
        #expect(walk("in", format: .webp).first == "in/a.png > out/a.webp")
    }

    @Test func `A named file lands in the folder itself, even if it is hidden`() throws {
        try create("in/2024/c.jpg", ".h.jpg")
        #expect(walk("in/2024/c.jpg", ".h.jpg") == [".h.jpg > out/.h.jpg named", "in/2024/c.jpg > out/c.jpg named"])
    }

    @Test func `A pattern keeps the tree below its first wildcard`() throws {
        try create("in/a.jpg", "in/B.JPG", "in/c.png", "in/sub/d.jpg", "in/sub/deep/e.jpg")
        #expect(walk("in/*.jpg") == ["in/B.JPG > out/B.JPG", "in/a.jpg > out/a.jpg"])
        #expect(
            walk("in/**/*.jpg") == [
                "in/B.JPG > out/B.JPG", "in/a.jpg > out/a.jpg", "in/sub/d.jpg > out/sub/d.jpg",
                "in/sub/deep/e.jpg > out/sub/deep/e.jpg",
            ])
        #expect(walk("*/sub/*") == ["in/sub/d.jpg > out/in/sub/d.jpg"])
    }

    @Test func `A file whose name has a wildcard is that file`() throws {
        try create("in/a*.jpg", "in/ab.jpg")
        #expect(walk("in/a*.jpg") == ["in/a*.jpg > out/a*.jpg named"])
    }

    @Test func `What does not exist and what matches nothing fails by itself`() throws {
        try create("in/a.jpg")
        #expect(
            walk("gone.jpg", "in", "in/*.gif") == [
                "failed: gone.jpg cannot be read: No such file or directory.", "in/a.jpg > out/a.jpg",
                "failed: in/*.gif matches no file.",
            ])
    }

    @Test func `Links to files are files, and links to folders are not followed`() throws {
        try create("in/a.jpg", "other/b.jpg")
        try link("in/loop", to: ".")
        try link("in/other", to: "../other")
        try link("in/link.jpg", to: "../other/b.jpg")
        try link("in/nowhere.jpg", to: "gone.jpg")
        #expect(
            walk("in") == [
                "skipped: in/loop link-to-folder", "skipped: in/nowhere.jpg not-an-image",
                "skipped: in/other link-to-folder", "in/a.jpg > out/a.jpg", "in/link.jpg > out/link.jpg",
            ])
        #expect(walk("in/other") == ["in/other/b.jpg > out/b.jpg"])
    }

    @Test func `Pipes are not opened`() throws {
        try create("in/a.jpg")
        #expect(mkfifo(folder.appendingPathComponent("in/pipe.jpg").path, 0o600) == 0)
        #expect(walk("in") == ["skipped: in/pipe.jpg not-an-image", "in/a.jpg > out/a.jpg"])
    }

    @Test func `Results inside of the input are no inputs`() throws {
        try create("in/a.jpg", "in/out/a.jpg", "in/sub/out/b.jpg")
        #expect(
            walk("in", into: "in/out") == ["in/a.jpg > in/out/a.jpg", "in/sub/out/b.jpg > in/out/sub/out/b.jpg"])
    }

    @Test func `Two images with the same result are a conflict, and other files are not`() throws {
        try create("in/0.jpg", "in/a.jpg", "in/a.png", "in/b.jpg", "in/b.txt", "in/b", "in/c.heic", "in/c.jpg")
        #expect(
            walk("in", format: .webp).filter { $0.hasPrefix("conflict") } == [
                "conflict: in/a.jpg and in/a.png have the same result, out/a.webp. Rename them, or transform them into "
                    + "different folders."
            ])
        #expect(walk("in").filter { $0.hasPrefix("conflict") } == [])
    }

    @Test func `Conflicts are found between the trees of several inputs`() throws {
        try create("a/2024/x.jpg", "b/2024/x.jpg", "c/x.jpg", "a/y.jpg")
        let lines = walk("a", "b", "c/x.jpg")
        #expect(lines.count == 3)
        #expect(lines[0] == "c/x.jpg > out/x.jpg named" || lines[1] == "c/x.jpg > out/x.jpg named")
        #expect(lines[2].hasPrefix("conflict: a/2024/x.jpg and b/2024/x.jpg have the same result, out/2024/x.jpg."))
    }

    @Test func `A file that is named twice is one input`() throws {
        try create("in/a.jpg")
        #expect(walk("in/a.jpg", "in/a.jpg").count == 1)
        #expect(walk("in", "in/*.jpg").count == 1)
    }

    @Test func `A result never takes the place of its source`() throws {
        try create("in/a.jpg", "in/b.png")
        let sentence = "conflict: The result of in/a.jpg would replace it. Choose another folder for the results."
        #expect(walk("in", into: "in").first == sentence)
        #expect(walk("in/a.jpg", into: "in").first == sentence)
        #expect(walk("in/*.jpg", into: "in", format: .webp) == ["in/a.jpg > in/a.webp"])
    }

    @Test func `A result never lands in an input folder below its own`() throws {
        try create("raw/a.jpg", "raw/raw/b.jpg")
        #expect(
            walk("raw", into: ".").sorted() == [
                "conflict: The result of raw/raw/b.jpg would be ./raw/b.jpg, inside of the input raw. Choose another "
                    + "folder for the results.", "raw/a.jpg > ./a.jpg",
            ])
    }

    @Test func `A name that is not UTF-8 fails by itself`() throws {
        try create("in/a.jpg")
        let path = Array("\(folder.path)/in/".utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        // Some file systems have no such names.
        guard descriptor >= 0 else { return }
        close(descriptor)
        let lines = walk("in")
        #expect(lines.count == 2)
        #expect(lines[0].hasSuffix("has a name that is not UTF-8 text; rename it."))
    }

    @Test func `What is no folder cannot be listed`() throws {
        try create("in/a.jpg")
        let error = #expect(throws: FileError.self) {
            try FolderEntry.all(in: folder.appendingPathComponent("in/a.jpg").path)
        }
        #expect(error?.sentence.hasSuffix("in/a.jpg cannot be read: Not a directory.") == true)
    }
}
