package import Crypto
package import NIOCore

/// Immutable bytes in ordinary memory or in a memory file, which other processes can read without a copy.
package struct SharedBytes: Sendable {
    /// The memory file, unless the bytes are in ordinary memory.
    package let file: MemoryFile?
    /// Empty if there is a file.
    private let ordinary: ByteBuffer
    /// The SHA-256 of the bytes, if it was computed while they arrived.
    package let digest: SHA256Digest?

    /// Bytes in ordinary memory.
    package init(_ buffer: ByteBuffer, digest: SHA256Digest? = nil) {
        (file, ordinary) = (nil, buffer)
        self.digest = digest
    }

    package init(_ file: MemoryFile, digest: SHA256Digest? = nil) {
        (self.file, ordinary) = (file, ByteBuffer())
        self.digest = digest
    }

    package var count: Int { file?.count ?? ordinary.readableBytes }

    /// The bytes in place.
    package var buffer: ByteBuffer { file?.buffer ?? ordinary }

    /// The memory file; a new file if the bytes are in ordinary memory.
    package func inFile() throws(MemoryFile.Failure) -> MemoryFile {
        if let file { return file }
        return try MemoryFile(copying: ordinary)
    }

    /// The same bytes in ordinary memory: a copy if they are in a memory file. What holds many of them for long must
    /// not run out of descriptors and mappings.
    package var inOrdinaryMemory: SharedBytes { file.map { SharedBytes($0.copy(), digest: digest) } ?? self }
}
