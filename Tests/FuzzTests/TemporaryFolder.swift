import Foundation

/// A folder of its own for a test.
struct TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("darkroom-fuzz-\(UUID().uuidString)")

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}

/// The fixtures, for seeds: the first bytes of each picture.
enum Pictures {
    static func heads(bytes: Int) -> [[UInt8]] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../Fixtures/images")
        let files = FileManager.default.enumerator(at: root.standardized, includingPropertiesForKeys: nil)
        return (files?.allObjects ?? []).compactMap { $0 as? URL }.sorted { $0.path < $1.path }
            .compactMap { try? Data(contentsOf: $0) }.map { Array($0.prefix(bytes)) }
    }
}
