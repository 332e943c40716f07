import DarkroomCSandbox
import Foundation
import NIOCore

/// An immutable memory file (memfd_create(2) with all seals) that can be passed to another process.
final class SealedMemory: Sendable {
    let descriptor: Int32

    init(copying bytes: ByteBuffer) throws(WireError) {
        descriptor = try WireError.checked(darkroom_memory_file(bytes.readableBytes))
        try bytes.withUnsafeReadableBytes { (bytes) throws(WireError) in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = pwrite(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, off_t(rest.startIndex))
                guard written > 0 else { throw .system(errno) }
                rest = rest.dropFirst(written)
            }
        }
        _ = try WireError.checked(darkroom_seal(descriptor))
    }

    /// - Parameter descriptor: received with a message and untrusted; closed with this object.
    init(received descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// A copy of the bytes. Throws `.malformed` if the file is not sealed or is longer than `maxBytes`.
    func bytes(maxBytes: Int) throws(WireError) -> ByteBuffer {
        var status = stat()
        guard darkroom_is_sealed(descriptor) == 1, fstat(descriptor, &status) == 0,
            (0...maxBytes).contains(Int(status.st_size))
        else { throw .malformed }
        let count = Int(status.st_size)
        var bytes = ByteBufferAllocator().buffer(capacity: count)
        while bytes.readableBytes < count {
            let offset = off_t(bytes.readableBytes)
            let read = bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count - bytes.readableBytes) { room in
                max(pread(descriptor, room.baseAddress, count - Int(offset), offset), 0)
            }
            guard read > 0 else { throw .malformed }
        }
        return bytes
    }
}
