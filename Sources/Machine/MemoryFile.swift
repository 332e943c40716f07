import DarkroomCMemory
import Foundation
// NIO's interface for buffers of other memory, which its stable API does not include yet.
@_spi(CustomByteBufferAllocator) package import NIOCore
import Synchronization

/// An immutable file in memory (memfd_create(2) with all seals), which other processes can read without a copy.
///
/// The kernel guarantees every holder of the descriptor that neither the bytes nor the size can change.
package final class MemoryFile: Sendable {
    /// Why there is no memory file.
    package enum Failure: Error, Equatable {
        /// A system call failed with this `errno`: `ENOSYS` on systems without memory files, `EMFILE`, `ENOMEM`, …
        case system(Int32)
        /// A received descriptor does not belong to a sealed memory file of an acceptable size.
        case unacceptable
    }

    /// The size in bytes.
    package let count: Int
    private let open: OpenDescriptor
    /// The mapped bytes, from their first use on.
    private let mapped = Mutex<ByteBuffer?>(nil)

    /// A sealed copy of these bytes.
    package convenience init(copying bytes: ByteBuffer) throws(Failure) {
        var draft = try MemoryFileDraft()
        try draft.append(bytes)
        try self.init(sealing: draft)
    }

    /// Checks a descriptor from another process, which need not be honest. It is closed with this object, or now if the
    /// check fails.
    package init(received descriptor: Int32, maxBytes: Int = .max) throws(Failure) {
        open = OpenDescriptor(descriptor)
        var status = stat()
        // The seals come first: without them the size may change after it was read.
        guard darkroom_is_sealed(descriptor) == 1, fstat(descriptor, &status) == 0,
            (0...min(maxBytes, Int(UInt32.max))).contains(Int(status.st_size))
        else { throw .unacceptable }
        count = Int(status.st_size)
    }

    init(sealing draft: MemoryFileDraft) throws(Failure) {
        let result = darkroom_seal(draft.open.number)
        guard result == 0 else { throw .system(-result) }
        open = draft.open
        count = draft.count
    }

    /// The descriptor, open as long as this object exists.
    package var descriptor: Int32 { open.number }

    /// The bytes, mapped in place; a copy if the system refuses the mapping. Only changing the buffer copies them.
    package var buffer: ByteBuffer {
        mapped.withLock { mapped in
            if let mapped { return mapped }
            let buffer = map() ?? open.read(count)
            mapped = buffer
            return buffer
        }
    }

    /// A copy of the bytes in ordinary memory.
    package func copy() -> ByteBuffer { open.read(count) }

    private func map() -> ByteBuffer? {
        guard count > 0, let block = darkroom_block_map(open.number, count) else { return nil }
        return ByteBuffer(
            takingOwnershipOf: UnsafeMutableRawBufferPointer(start: block, count: count), allocator: Self.blocks)
    }

    /// Unmaps the bytes with their last buffer.
    private static let blocks = ByteBufferAllocator(
        allocate: darkroom_block_allocate, reallocate: darkroom_block_reallocate, deallocate: darkroom_block_free,
        copy: darkroom_block_copy)
}

/// A memory file that grows. What has been appended can be read concurrently.
struct MemoryFileDraft {
    let open: OpenDescriptor
    private(set) var count = 0

    init() throws(MemoryFile.Failure) {
        let descriptor = darkroom_memory_file()
        guard descriptor >= 0 else { throw .system(-descriptor) }
        open = OpenDescriptor(descriptor)
    }

    /// Writes into the file instead of a mapping of it, which costs no page faults.
    mutating func append(_ bytes: ByteBuffer) throws(MemoryFile.Failure) {
        var rest = bytes
        while rest.readableBytes > 0 {
            let written = rest.withUnsafeReadableBytes {
                pwrite(open.number, $0.baseAddress, $0.count, off_t(count))
            }
            guard written > 0 else { throw .system(written < 0 ? errno : EIO) }
            rest.moveReaderIndex(forwardBy: written)
            count += written
        }
    }
}

/// A file descriptor that is closed with this object.
final class OpenDescriptor: Sendable {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    deinit { close(number) }

    /// A copy of the first `count` bytes of a memory file, which has that many.
    func read(_ count: Int) -> ByteBuffer {
        var bytes = ByteBufferAllocator().buffer(capacity: count)
        while bytes.readableBytes < count {
            let offset = bytes.readableBytes
            let read = bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count - offset) { space in
                max(pread(number, space.baseAddress, count - offset, off_t(offset)), 0)
            }
            precondition(read > 0, "a memory file ended at \(offset) of \(count) bytes")
        }
        return bytes
    }
}
