import Foundation
import Testing

/// What the documents show and name exists.
@Suite struct DocumentTests {
    @Test(arguments: try Document.all)
    func `Every block of Swift is an example that is compiled and run`(document: Document) throws {
        let examples = try Self.examples().values
        for block in document.blocks(in: "swift") {
            #expect(examples.contains(block), "No file of Examples contains this block: \(block)")
        }
    }

    @Test func `Every example is shown or linked`() throws {
        let documents = try Document.all
        for (name, text) in try Self.examples() {
            let isFound = documents.contains { document in
                document.text.contains("Examples/\(name)") || document.blocks(in: "swift").contains(text)
            }
            #expect(isFound, "No document mentions Examples/\(name).")
        }
    }

    @Test(arguments: try Document.all)
    func `Every relative link leads to a file and a heading`(document: Document) throws {
        for match in document.prose.matches(of: /\]\((?<target>[^)\s]*)\)/) {
            let target = match.target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            guard !match.target.contains("://") else { continue }
            var file = document.path
            if !target[0].isEmpty {
                let base = Document.package.appendingPathComponent(document.path).deletingLastPathComponent()
                let url = base.appendingPathComponent(String(target[0])).standardizedFileURL
                file = String(url.path.dropFirst(Document.package.path.count + 1))
                #expect(FileManager.default.fileExists(atPath: url.path), "\(match.target)")
            }
            if target.count == 2 {
                #expect(try Document(file).anchors.contains(String(target[1])), "\(match.target)")
            }
        }
    }

    @Test func `README is short and leads to every page`() throws {
        let readme = try Document("README.md")
        #expect(readme.text.split(whereSeparator: \.isWhitespace).count <= 900)
        for page in try Document.pages {
            #expect(readme.text.contains("(\(page.path))"), "\(page.path)")
        }
    }

    @Test func `The screenshot is small`() throws {
        let image = Document.package.appendingPathComponent("docs/playground.png")
        #expect(try Data(contentsOf: image).count < 200_000)
    }

    @Test func `Every picture of a parameter is small and shown`() throws {
        let folder = Document.package.appendingPathComponent("docs/pictures")
        let page = try Document("docs/gallery.md").text
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count > 20)
        for file in files {
            #expect(try Data(contentsOf: file).count <= 8192, "\(file.lastPathComponent)")
            #expect(page.contains("](pictures/\(file.lastPathComponent))"), "\(file.lastPathComponent)")
        }
    }

    @Test(arguments: try Document.all)
    func `Every make target exists`(document: Document) throws {
        let makefile = try String(contentsOf: Document.package.appendingPathComponent("Makefile"), encoding: .utf8)
        for match in document.text.matches(of: /(?:`|^)make (?<target>[a-z-]+)/.anchorsMatchLineEndings()) {
            #expect(makefile.contains("\n\(match.target):"), "make \(match.target)")
        }
    }

    @Test func `Every path of the contract is documented`() throws {
        let contract = Document.package.appendingPathComponent("openapi/openapi.yaml")
        let page = try Document("docs/parameters.md").text
        let paths = try String(contentsOf: contract, encoding: .utf8)
            .matches(of: /^  (?<path>\/[a-z.\/]*)(?:{.*)?:$/.anchorsMatchLineEndings()).map(\.path)
        #expect(paths.count > 10)
        for path in paths {
            let path = path.count > 1 && path.hasSuffix("/") ? path.dropLast() : path
            #expect(page.contains("`\(path)`") || page.contains("`\(path)/"), "\(path)")
        }
    }

    @Test func `Every module is described`() throws {
        let manifest = try String(
            contentsOf: Document.package.appendingPathComponent("Package.swift"), encoding: .utf8)
        let page = try Document("docs/architecture.md").text
        let rooms = manifest.matches(of: /room\(\s*"(?<name>[A-Za-z]+)"/).map(\.name)
        #expect(rooms.count > 10)
        for room in rooms { #expect(page.contains("\n| `\(room)` |"), "\(room)") }
    }

    private static func examples() throws -> [String: String] {
        let folder = Document.package.appendingPathComponent("Examples").path
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
        return try Dictionary(
            uniqueKeysWithValues: files.map { ($0, try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)) })
    }
}
