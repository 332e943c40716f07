import Foundation
import NIOCore
import Testing

@testable import DarkroomCommand

@Suite struct ResultFileTests {
    private let folder: URL

    init() throws {
        folder = try URL.temporaryFolder()
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
    private func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }
    private var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path) } }

    @Test func `A result is written with the folders that it is in, and nothing else is left`() throws {
        try ResultFile.write(ByteBuffer(string: "one"), to: path("a/b/c.txt"), replaces: false)
        #expect(try text("a/b/c.txt") == "one")
        #expect(try FileManager.default.contentsOfDirectory(atPath: path("a/b")) == ["c.txt"])
    }

    @Test func `An existing file is replaced only where that is meant`() throws {
        try Data("old".utf8).write(to: folder.appendingPathComponent("a"))
        #expect(throws: ResultFile.Failure.exists) {
            try ResultFile.write(ByteBuffer(string: "new"), to: path("a"), replaces: false)
        }
        #expect(try text("a") == "old")
        try ResultFile.write(ByteBuffer(string: "new"), to: path("a"), replaces: true)
        #expect(try text("a") == "new")
        #expect(try names == ["a"])
    }

    @Test func `A link that leads nowhere is an existing file`() throws {
        try FileManager.default.createSymbolicLink(atPath: path("a"), withDestinationPath: "gone")
        #expect(throws: ResultFile.Failure.exists) {
            try ResultFile.write(ByteBuffer(string: "new"), to: path("a"), replaces: false)
        }
        #expect(try names == ["a"])
    }

    @Test func `A failed write leaves nothing behind and says why`() throws {
        try FileManager.default.createDirectory(atPath: path("a"), withIntermediateDirectories: false)
        #expect(throws: ResultFile.Failure.unwritable(FileError(path("a"), .written, code: EISDIR))) {
            try ResultFile.write(ByteBuffer(string: "new"), to: path("a"), replaces: true)
        }
        try Data().write(to: folder.appendingPathComponent("file"))
        #expect(throws: ResultFile.Failure.unwritable(FileError(path("file/b"), .written, code: ENOTDIR))) {
            try ResultFile.write(ByteBuffer(string: "new"), to: path("file/b"), replaces: true)
        }
        #expect(try names.sorted() == ["a", "file"])
    }

    @Test func `A full disk fails every result, and a folder of the result's name only this one`() throws {
        #expect(throws: ResultFile.Failure.unwritable(FileError("/dev/full", .written, code: ENOSPC))) {
            try ResultFile.write(ByteBuffer(string: "new"), toSpecialFile: "/dev/full")
        }
        #expect(FileError("a", .written, code: ENOSPC).isOfVolume)
        #expect(FileError("a", .written, code: EROFS).isOfVolume)
        #expect(!FileError("a", .written, code: EISDIR).isOfVolume)
        #expect(!FileError("a", .read, code: ENOSPC).isOfVolume)
    }
}
