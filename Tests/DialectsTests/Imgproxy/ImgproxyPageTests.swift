import Foundation
import Testing

@testable import DarkroomDialects

/// `docs/imgproxy.md`.
struct ImgproxyPageTests {
    private static let docs = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs")

    /// `IMGPROXY_REFERENCE=FILE` writes the tables into a file.
    @Test func `the page lists every option and what becomes of it`() throws {
        let page = try String(contentsOf: Self.docs.appending(path: "imgproxy.md"), encoding: .utf8)
        let (images, documents) = (ImgproxyTable.image.reference, ImgproxyTable.information.reference)
        if let path = ProcessInfo.processInfo.environment["IMGPROXY_REFERENCE"] {
            try "\(images)\n\(documents)".write(toFile: path, atomically: true, encoding: .utf8)
        }
        #expect(page.contains(images))
        #expect(page.contains(documents))
    }
}
