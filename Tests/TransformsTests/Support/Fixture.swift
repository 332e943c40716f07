import Foundation
import NIOCore

@testable import DarkroomTransforms

/// Files for tests: the project's fixtures, and an external corpus if it is present.
enum Fixture {
    static let root: URL = {
        if let path = ProcessInfo.processInfo.environment["DARKROOM_FIXTURES"] { return URL(fileURLWithPath: path) }
        return packageRoot.appendingPathComponent("Fixtures")
    }()

    /// Nil if the external corpus is absent.
    static let corpus: URL? = {
        let environment = ProcessInfo.processInfo.environment["DARKROOM_CORPUS"]
        let folder =
            environment.map { URL(fileURLWithPath: $0) }
            ?? packageRoot.deletingLastPathComponent().appendingPathComponent("shared/corpus")
        let manifest = folder.appendingPathComponent("MANIFEST.tsv").path
        return FileManager.default.fileExists(atPath: manifest) ? folder : nil
    }()

    /// A file of `Fixtures/images`.
    static func image(_ path: String) throws -> ByteBuffer {
        try bytes(root.appendingPathComponent("images").appendingPathComponent(path))
    }

    static func bytes(_ file: URL) throws -> ByteBuffer {
        ByteBuffer(bytes: try Data(contentsOf: file))
    }

    /// The rows of a table with a header line, as cells by column name.
    static func table(_ file: URL) throws -> [[String: String]] {
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let cells = lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        guard let names = cells.first else { return [] }
        return cells.dropFirst().map { Dictionary(zip(names, $0), uniquingKeysWith: { first, _ in first }) }
    }

    /// The outcomes of images by path that differ from their tables in the running version of libvips.
    static let expectedOfThisLibvips: [String: String] = {
        let rows = (try? table(root.appendingPathComponent("images-by-libvips.tsv"))) ?? []
        let isAtMostThis = { (version: String) in
            version.compare(InstalledCodecs.libvipsVersion, options: .numeric) != .orderedDescending
        }
        let holding = rows.filter { row in
            isAtMostThis(row["from"] ?? "") && (row["before"] == "-" || !isAtMostThis(row["before"] ?? ""))
        }
        return Dictionary(uniqueKeysWithValues: holding.map { ($0["path"] ?? "", $0["expected"] ?? "") })
    }()

    private static let packageRoot: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.lastPathComponent != "Tests" { folder.deleteLastPathComponent() }
        return folder.deletingLastPathComponent()
    }()
}
