import Crypto
package import NIOCore

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
