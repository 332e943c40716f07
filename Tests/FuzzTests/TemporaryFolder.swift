import Foundation

/// A folder of its own for a test.
struct TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("darkroom-fuzz-\(UUID().uuidString)")

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
