import Foundation

/// Good and bad pictures, for seeds.
enum Pictures {
    /// The first bytes of each fixture.
    static func heads(bytes: Int) -> [[UInt8]] {
        files(in: "Fixtures/images").compactMap { try? Data(contentsOf: $0) }.map { Array($0.prefix(bytes)) }
    }

    /// Each fixture in one of these formats, by the endings of their names.
    static func whole(named endings: [String]) -> [[UInt8]] {
        files(in: "Fixtures/images").filter { endings.contains($0.pathExtension) }
            .compactMap { try? Array(Data(contentsOf: $0)) }
    }

    /// Each fixture that is no larger, and each picture of the corpus beside the repository, where there is one.
    static func whole(maxBytes: Int) -> [[UInt8]] {
        (files(in: "Fixtures/images") + files(in: "../shared/corpus")).filter { file in
            (try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize).map { $0 <= maxBytes } ?? false
        }.compactMap { try? Array(Data(contentsOf: $0)) }
    }

    private static func files(in folder: String) -> [URL] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../\(folder)")
        let files = FileManager.default.enumerator(
            at: root.standardized, includingPropertiesForKeys: [.isRegularFileKey, .fileSizeKey])
        return (files?.allObjects ?? []).compactMap { $0 as? URL }.filter {
            (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true
        }.sorted { $0.path < $1.path }
    }
}
