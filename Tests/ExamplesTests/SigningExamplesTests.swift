import Foundation
import Testing

@testable import DarkroomExamples

/// The signing examples produce the vectors of `Fixtures/signatures.json`.
@Suite(.timeLimit(.minutes(3)))
struct SigningExamplesTests {
    private struct Vectors: Decodable {
        struct Row: Decodable {
            var key: String
            var path: String
            var parameters: [String: String]
            var url: String
        }

        var keys: [String: String]
        var valid: [Row]
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let folder = root.appendingPathComponent("Examples/signing")
    private static let fixture = root.appendingPathComponent("Fixtures/signatures.json")

    private func vectors() throws -> Vectors {
        try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: Self.fixture))
    }

    @Test func `in Swift`() throws {
        let vectors = try vectors()
        #expect(vectors.valid.count > 8)
        for row in vectors.valid {
            let secret = try #require(vectors.keys[row.key])
            #expect(sign(keyID: row.key, secret: secret, path: row.path, parameters: row.parameters) == row.url)
        }
    }

    @Test(.enabled(if: Self.has("python3"))) func `in Python`() throws {
        let program = """
            import json, sys
            sys.dont_write_bytecode = True
            sys.path.insert(0, sys.argv[1])
            from sign import sign
            vectors = json.load(open(sys.argv[2]))
            for row in vectors["valid"]: print(sign(row["key"], vectors["keys"][row["key"]], row["path"], row["parameters"]))
            """
        try expectVectors(from: ["python3", "-c", program, Self.folder.path, Self.fixture.path])
    }

    @Test(.enabled(if: Self.has("node"))) func `in JavaScript`() throws {
        let program = """
            const { sign } = require(process.argv[1] + "/sign.js");
            const vectors = JSON.parse(require("node:fs").readFileSync(process.argv[2], "utf8"));
            for (const row of vectors.valid) console.log(sign(row.key, vectors.keys[row.key], row.path, row.parameters));
            """
        try expectVectors(from: ["node", "-e", program, Self.folder.path, Self.fixture.path])
    }

    @Test(.enabled(if: Self.has("go"))) func `in Go`() throws {
        let program = """
            package main

            import ("encoding/json"; "fmt"; "net/url"; "os"; "check/signing")

            func main() {
                var vectors struct { Keys map[string]string; Valid []struct { Key, Path string; Parameters map[string]string } }
                data, _ := os.ReadFile(os.Args[1])
                if json.Unmarshal(data, &vectors) != nil { os.Exit(1) }
                for _, row := range vectors.Valid {
                    values := url.Values{}
                    for name, value := range row.Parameters { values.Set(name, value) }
                    fmt.Println(signing.Sign(row.Key, vectors.Keys[row.Key], row.Path, values))
                }
            }
            """
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("signing-\(UUID().uuidString)")
        try files.createDirectory(at: folder.appendingPathComponent("signing"), withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        try Data("module check\n".utf8).write(to: folder.appendingPathComponent("go.mod"))
        try Data(program.utf8).write(to: folder.appendingPathComponent("main.go"))
        try files.copyItem(
            at: Self.folder.appendingPathComponent("sign.go"), to: folder.appendingPathComponent("signing/sign.go"))
        try expectVectors(from: ["go", "run", ".", Self.fixture.path], in: folder)
    }

    @Test func `The page on signing shows them as they are, none longer than 12 lines`() throws {
        let page = try Document("docs/signing.md").text
        for (language, name) in [
            ("python", "sign.py"), ("js", "sign.js"), ("go", "sign.go"), ("swift", "../Signing.swift"),
        ] {
            let text = try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
            #expect(page.contains("```\(language)\n\(text)```"), "\(name)")
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 13, "\(name)")
        }
    }

    private func expectVectors(from words: [String], in folder: URL? = nil) throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.currentDirectoryURL = folder
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try text.split(separator: "\n").map(String.init) == vectors().valid.map(\.url))
    }

    private static func has(_ program: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }
}
