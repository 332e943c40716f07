import Foundation

/// A folder of a test's own, removed with the last reference.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/darkroom-store-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { Self.clear(path) }

    /// A store that is at work in there, or letting go of its files just now, makes a removal fail.
    private static func clear(_ path: String) {
        var attempts = 0
        while FileManager.default.fileExists(atPath: path), attempts < 10 {
            try? FileManager.default.removeItem(atPath: path)
            attempts += 1
        }
    }

    /// The path of this name in the folder.
    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: self(name))
    }

    func bytes(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: self(name)))
    }

    func write(_ bytes: Data, to name: String) throws {
        let url = URL(fileURLWithPath: self(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: url)
    }

    /// Gone at one stroke, whatever a store does in there.
    func remove(_ name: String) throws {
        let aside = "\(path).\(UUID().uuidString)"
        try FileManager.default.moveItem(atPath: name.isEmpty ? path : self(name), toPath: aside)
        Self.clear(aside)
    }

    /// The regular files below a folder, with their paths from here.
    func files(below name: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: self(name))?.compactMap { $0 as? String } ?? []
        return names.map { "\(name)/\($0)" }.filter { path in
            var isFolder = ObjCBool(false)
            return FileManager.default.fileExists(atPath: self(path), isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }
}
