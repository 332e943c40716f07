import DarkroomCMemory
import Foundation
import Testing

@testable import DarkroomMachine

@Suite struct CachedFilesTests {
    private let path = FileManager.default.temporaryDirectory.path + "/darkroom-cached-\(UUID().uuidString)"

    private func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

    /// Not on systems that cannot tell what is in memory.
    private static let isSupported: Bool = CachedFiles.open("/", O_RDONLY).map { close($0) } != nil

    @Test(.enabled(if: isSupported)) func `A file that was written a moment ago is read from memory`() throws {
        try write([1, 2, 3, 4])
        let file = try #require(CachedFiles.open(path, O_RDONLY | O_CLOEXEC))
        defer { close(file) }
        try FileManager.default.removeItem(atPath: path)
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(bytes.withUnsafeMutableBytes { CachedFiles.read(file, into: $0, at: 1) } == 3)
        #expect(bytes == [2, 3, 4, 0, 0, 0, 0, 0])
        #expect(CachedFiles.read(file, into: UnsafeMutableRawBufferPointer(start: nil, count: 0), at: 0) == 0)
    }

    @Test func `A file that is missing is not opened`() {
        #expect(CachedFiles.open(path, O_RDONLY) == nil)
    }

    @Test func `The reading function of libraries reads in both ways, and fails without a file`() throws {
        try write([1, 2, 3, 4])
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        try FileManager.default.removeItem(atPath: path)
        func read(_ file: Int32, at offset: Int = 0) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: 4)
            let count = darkroom_pread(file, &bytes, 4, off_t(offset))
            return count < 0 ? nil : Array(bytes.prefix(count))
        }
        #expect(read(file) == [1, 2, 3, 4])
        #if os(Linux)
            #expect(CachedFiles.withoutWaiting { read(file) } == [1, 2, 3, 4])
        #endif
        #expect(CachedFiles.withoutWaiting { read(-1) } == nil)
        // Some systems say the end of the file for bytes that are not in memory.
        #expect(CachedFiles.withoutWaiting { read(file, at: 4) } == nil)
        #expect(read(file, at: 4) == [])
        #expect(read(file) == [1, 2, 3, 4])
    }
}
