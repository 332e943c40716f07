import Crypto
package import NIOCore

/// Collects bytes that arrive in parts, and hashes them meanwhile.
///
/// Few bytes are collected in ordinary memory, where they cost no system calls, and more in a memory file. That grows
/// with what has arrived, so an announced length alone costs nothing.
package struct SharedBytesWriter: Sendable {
    private enum Storage {
        case memory(ByteBuffer)
        case file(MemoryFileDraft)
    }

    /// The size from which bytes are collected in a memory file, in bytes.
    package static let minFileBytes = 64 << 10

    /// The most ordinary memory that is allocated for an announced length before any bytes arrive.
    private static let maxReservedBytes = 4 << 20

    private var storage = Storage.memory(ByteBuffer())
    private var hasher = SHA256()
    /// Whether the system has refused a memory file.
    private var isRefused = false

    /// - Parameter expectedBytes: the announced length; 0 if unknown.
    package init(expectedBytes: Int = 0) {
        if expectedBytes >= Self.minFileBytes { moveToFile(ByteBuffer()) }
        guard case .memory(var bytes) = storage else { return }
        bytes.reserveCapacity(min(expectedBytes, Self.maxReservedBytes))
        storage = .memory(bytes)
    }

    /// The number of bytes so far.
    package var count: Int {
        switch storage {
        case .memory(let bytes): bytes.readableBytes
        case .file(let draft): draft.count
        }
    }

    package mutating func append(_ part: ByteBuffer) {
        part.withUnsafeReadableBytes { hasher.update(bufferPointer: $0) }
        if case .memory(let bytes) = storage, !isRefused, bytes.readableBytes + part.readableBytes >= Self.minFileBytes
        {
            moveToFile(bytes)
        }
        switch storage {
        case .memory(var bytes):
            // Appended in place: the other reference ends first.
            storage = .memory(ByteBuffer())
            bytes.writeImmutableBuffer(part)
            storage = .memory(bytes)
        case .file(var draft):
            let count = draft.count
            if (try? draft.append(part)) == nil {
                var bytes = draft.open.read(count)
                bytes.writeImmutableBuffer(part)
                isRefused = true
                storage = .memory(bytes)
            } else {
                storage = .file(draft)
            }
        }
    }

    private mutating func moveToFile(_ bytes: ByteBuffer) {
        guard var draft = try? MemoryFileDraft(), (try? draft.append(bytes)) != nil else {
            isRefused = true
            return
        }
        storage = .file(draft)
    }

    /// A function that returns a copy of the bytes so far, even after more of them have arrived.
    package var prefix: @Sendable () -> ByteBuffer {
        switch storage {
        case .memory(let bytes): { bytes }
        case .file(let draft): { draft.open.read(draft.count) }
        }
    }

    /// The bytes. Nothing may be appended afterward.
    package consuming func finish() -> SharedBytes {
        let digest = hasher.finalize()
        switch storage {
        case .memory(let bytes): return SharedBytes(bytes, digest: digest)
        case .file(let draft):
            guard let file = try? MemoryFile(sealing: draft) else {
                return SharedBytes(draft.open.read(draft.count), digest: digest)
            }
            return SharedBytes(file, digest: digest)
        }
    }
}
