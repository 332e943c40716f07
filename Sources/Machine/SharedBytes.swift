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

/// Collects bytes that arrive in parts, and hashes them meanwhile.
///
/// Few bytes are collected in ordinary memory, where they cost no system calls, and more in a memory file. That grows
/// with what has arrived, so an announced length alone costs nothing.
package struct SharedBytesWriter: Sendable {
    /// The size from which bytes are collected in a memory file, in bytes.
    package static let minFileBytes = 64 << 10
    /// The most bytes that may be collected: a buffer holds no more.
    package static let maxBytes = Int(UInt32.max) - 1

    /// The most ordinary memory that is allocated for an announced length before any bytes arrive.
    private static let maxReservedBytes = 4 << 20

    /// The bytes in ordinary memory; empty while there is a file.
    private var memory = ByteBuffer()
    private var file: MemoryFileDraft?
    private var hasher = SHA256()
    /// Whether the system has refused a memory file.
    private var isRefused = false

    /// - Parameter expectedBytes: the announced length; 0 if unknown.
    package init(expectedBytes: Int = 0) {
        if expectedBytes >= Self.minFileBytes { moveToFile() }
        if file == nil { memory.reserveCapacity(min(expectedBytes, Self.maxReservedBytes)) }
    }

    /// The number of bytes so far.
    package var count: Int { file?.count ?? memory.readableBytes }

    package mutating func append(_ part: ByteBuffer) {
        part.withUnsafeReadableBytes { hasher.update(bufferPointer: $0) }
        if file == nil, !isRefused, memory.readableBytes + part.readableBytes >= Self.minFileBytes { moveToFile() }
        if let before = file, (try? file?.append(part)) == nil {
            memory = before.open.read(before.count)
            file = nil
            isRefused = true
        }
        if file == nil { memory.writeImmutableBuffer(part) }
    }

    private mutating func moveToFile() {
        var draft = try? MemoryFileDraft()
        isRefused = (try? draft?.append(memory)) == nil
        if !isRefused { (file, memory) = (draft, ByteBuffer()) }
    }

    /// The bytes. Nothing may be appended afterward.
    package consuming func finish() -> SharedBytes {
        let digest = hasher.finalize()
        guard let file else { return SharedBytes(memory, digest: digest) }
        guard let sealed = try? MemoryFile(sealing: file) else {
            return SharedBytes(file.open.read(file.count), digest: digest)
        }
        return SharedBytes(sealed, digest: digest)
    }
}
