#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A small text file of the kernel's, such as those below `/proc` and `/sys`. Closed with the last reference.
final class KernelFile {
    /// Longer than any file that is read here; `memory.stat`, the longest, has about 4 KiB.
    private static let maxBytes = 64 << 10

    private let descriptor: Int32

    /// Opens the file, or returns nil if there is none. Never waits: a pipe opens at once and reads as empty.
    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Reads the file to its end; nil if it can't be read or is longer than 64 KiB.
    ///
    /// The kernel reports a size of 0 for these files, so only reading shows how long one is.
    func text() -> String? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0, bytes.count + count <= Self.maxBytes else { return nil }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk.prefix(count)
        }
    }
}
