import Crypto
import DarkroomCMemory
import Foundation
import NIOCore
import Testing

@testable import DarkroomMachine

struct SharedBytesTests {
    private static let hasMemoryFiles: Bool = {
        #if os(Linux)
            true
        #else
            false
        #endif
    }()

    /// Bytes that differ everywhere, so that a part in the wrong place is noticed.
    private func pattern(_ count: Int, from start: Int = 0) -> ByteBuffer {
        ByteBuffer(bytes: (start..<start + count).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) })
    }

    private func written(_ whole: ByteBuffer, expectedBytes: Int, partBytes: Int) -> SharedBytesWriter {
        var writer = SharedBytesWriter(expectedBytes: expectedBytes)
        var rest = whole
        while let part = rest.readSlice(length: min(partBytes, rest.readableBytes)), part.readableBytes > 0 {
            writer.append(part)
        }
        return writer
    }

    @Test(arguments: [
        (0, 0), (1, 1), (1000, 0), (65_535, 65_535), (65_536, 65_536), (65_536, 0), (200_000, 0), (200_000, 200_000),
        (200_000, 70_000), (1000, 200_000), (200_000, 1000),
    ])
    func `Bytes that arrive in parts are whole, whatever was announced`(count: Int, announced: Int) {
        let whole = pattern(count)
        for partBytes in [997, 65_536] {
            let bytes = written(whole, expectedBytes: announced, partBytes: partBytes).finish()
            #expect(bytes.count == count)
            #expect(bytes.buffer == whole)
            #expect(bytes.digest == SHA256.hash(data: Data(whole.readableBytesView)))
            let isLarge = max(count, announced) >= SharedBytesWriter.minFileBytes
            #expect((bytes.file != nil) == (isLarge && Self.hasMemoryFiles))
        }
    }

    @Test func `Bytes outlive the file that they were mapped from`() {
        let whole = pattern(300_000)
        var bytes: SharedBytes? = written(whole, expectedBytes: 300_000, partBytes: 50_000).finish()
        let buffer = bytes?.buffer
        let slice = buffer?.getSlice(at: 200_000, length: 1000)
        bytes = nil
        #expect(buffer == whole)
        #expect(slice == whole.getSlice(at: 200_000, length: 1000))
    }

    @Test func `A changed buffer leaves the bytes as they were`() {
        let whole = pattern(100_000)
        let bytes = written(whole, expectedBytes: 100_000, partBytes: 100_000).finish()
        var changed = bytes.buffer
        changed.setInteger(UInt64.max, at: 0)
        changed.writeBytes(repeatElement(7, count: 200_000))
        #expect(changed.readableBytes == 300_000)
        #expect(changed.getSlice(at: 8, length: 99_992) == whole.getSlice(at: 8, length: 99_992))
        #expect(bytes.buffer == whole)
        #expect(bytes.inOrdinaryMemory.buffer == whole)
    }

    @Test func `Bytes in ordinary memory are put into a file once they are needed there`() throws {
        guard Self.hasMemoryFiles else { return }
        let bytes = SharedBytes(pattern(1000))
        #expect(bytes.file == nil)
        let file = try bytes.inFile()
        #expect(file.buffer == bytes.buffer)
        #expect(try SharedBytes(file).inFile() === file)
        #expect(SharedBytes(file).inOrdinaryMemory.file == nil)
    }
}

@Suite(.enabled(if: darkroom_memory_file() >= 0))
struct MemoryFileTests {
    @Test func `Nothing can be written to a memory file`() throws {
        let file = try MemoryFile(copying: ByteBuffer(repeating: 1, count: 100))
        #expect(pwrite(file.descriptor, [2], 1, 0) < 0)
        #expect(ftruncate(file.descriptor, 0) < 0)
        #expect(ftruncate(file.descriptor, 200) < 0)
        #expect(mmap(nil, 100, PROT_WRITE, MAP_SHARED, file.descriptor, 0) == MAP_FAILED)
        var buffer = file.buffer
        buffer.setInteger(UInt8(9), at: 0)
        #expect(try MemoryFile(received: dup(file.descriptor)).buffer == ByteBuffer(repeating: 1, count: 100))
    }

    @Test func `Another process's file is used only if it is sealed and not too large`() throws {
        let file = try MemoryFile(copying: ByteBuffer(repeating: 1, count: 100))
        #expect(try MemoryFile(received: dup(file.descriptor), maxBytes: 100).count == 100)
        #expect(throws: MemoryFile.Failure.unacceptable) {
            try MemoryFile(received: dup(file.descriptor), maxBytes: 99)
        }
        #expect(throws: MemoryFile.Failure.unacceptable) { try MemoryFile(received: darkroom_memory_file()) }
        #expect(throws: MemoryFile.Failure.unacceptable) { try MemoryFile(received: open("/dev/zero", O_RDONLY)) }
        let huge = darkroom_memory_file()
        #expect(ftruncate(huge, 1 << 40) == 0)
        #expect(darkroom_seal(huge) == 0)
        #expect(throws: MemoryFile.Failure.unacceptable) { try MemoryFile(received: huge) }
    }

    @Test func `A descriptor is closed with its file, or when it is refused`() throws {
        var file: MemoryFile? = try MemoryFile(copying: ByteBuffer(repeating: 1, count: 100))
        let descriptor = try #require(file?.descriptor)
        let buffer = file?.buffer
        file = nil
        #expect(fcntl(descriptor, F_GETFD) < 0)
        #expect(buffer == ByteBuffer(repeating: 1, count: 100))
        let refused = darkroom_memory_file()
        _ = try? MemoryFile(received: refused)
        #expect(fcntl(refused, F_GETFD) < 0)
    }

    @Test func `An empty file is an empty buffer`() throws {
        #expect(try MemoryFile(copying: ByteBuffer()).buffer == ByteBuffer())
    }
}
