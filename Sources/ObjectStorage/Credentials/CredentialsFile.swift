import Foundation

/// A small file that holds keys or tokens. Read anew whenever it is needed: platforms replace it.
enum CredentialsFile {
    private static let maxBytes = 1 << 20

    /// The file's bytes, or nil if it cannot be read or has more than 1 MiB.
    @Sendable static func read(_ path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let data = try? file.read(upToCount: maxBytes + 1) ?? Data(), data.count <= maxBytes else { return nil }
        return Array(data)
    }

    /// A token without the blanks and line ends around it. Nil if it is empty or has others inside.
    static func token(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
        return text
    }
}
