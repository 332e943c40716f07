package import Crypto
package import NIOCore

/// Immutable bytes in ordinary memory or in a memory file, which other processes can read without a copy.
package struct SharedBytes: Sendable {
    private enum Storage {
        case buffer(ByteBuffer)
        case file(MemoryFile)
    }

    private let storage: Storage
    /// The SHA-256 of the bytes, if it was computed while they arrived.
    package let digest: SHA256Digest?

    /// Bytes in ordinary memory.
    package init(_ buffer: ByteBuffer, digest: SHA256Digest? = nil) {
        storage = .buffer(buffer)
        self.digest = digest
    }

    package init(_ file: MemoryFile, digest: SHA256Digest? = nil) {
        storage = .file(file)
        self.digest = digest
    }

    package var count: Int {
        switch storage {
        case .buffer(let buffer): buffer.readableBytes
        case .file(let file): file.count
        }
    }

    /// The bytes in place.
    package var buffer: ByteBuffer {
        switch storage {
        case .buffer(let buffer): buffer
        case .file(let file): file.buffer
        }
    }

    /// The memory file, unless the bytes are in ordinary memory.
    package var file: MemoryFile? {
        switch storage {
        case .buffer: nil
        case .file(let file): file
        }
    }

    /// The memory file; a new file if the bytes are in ordinary memory.
    package func inFile() throws(MemoryFile.Failure) -> MemoryFile {
        switch storage {
        case .buffer(let buffer): try MemoryFile(copying: buffer)
        case .file(let file): file
        }
    }

    /// The same bytes in ordinary memory: a copy if they are in a memory file. What holds many of them for long must
    /// not run out of descriptors and mappings.
    package var inOrdinaryMemory: SharedBytes {
        switch storage {
        case .buffer: self
        case .file(let file): SharedBytes(file.copy(), digest: digest)
        }
    }
}
