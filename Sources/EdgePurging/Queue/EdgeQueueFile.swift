import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file that keeps a queue over restarts. A new file is written beside it and renamed, so that it is always whole.
///
/// It contains the URLs of sources, but no tokens of edges. Only the server's user can read it.
final class EdgeQueueFile: Sendable {
    enum Content {
        case missing
        case queue(EdgeQueue)
        /// Purges may have been lost.
        case damaged
    }

    private struct Document: Codable {
        var version = 1
        var queue: EdgeQueue
    }

    /// More than a queue of ten edges takes with all entries.
    private static let maxBytes = 256 << 20

    private let path: String
    /// Runs blocking calls, one after the other.
    private let thread = DispatchQueue(label: "darkroom.edge-queue")
    private let failures = Atomic(0)

    init(_ path: String) { self.path = path }

    /// How often the file could not be written.
    var failureCount: Int { failures.load(ordering: .relaxed) }

    /// Reads the queue. Blocks, so it is for the start of the server only.
    func read() -> Content {
        // Neither waits for the other end of a pipe, nor follows a link.
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return errno == ENOENT ? .missing : .damaged }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .damaged }
        guard let data = try? handle.read(upToCount: Self.maxBytes) else { return .damaged }
        guard let document = try? JSONDecoder().decode(Document.self, from: data), document.version == 1,
            document.queue.isPlausible
        else { return .damaged }
        return .queue(document.queue)
    }

    /// Writes the queue, and returns whether it is on disk. The snapshot is made right before the file is written, so
    /// that the last write has the latest state.
    @discardableResult
    func write(_ snapshot: @escaping @Sendable () -> EdgeQueue) async -> Bool {
        await withCheckedContinuation { continuation in
            thread.async { [self] in
                let isWritten = (try? JSONEncoder().encode(Document(queue: snapshot()))).map(replace) ?? false
                if !isWritten { failures.wrappingAdd(1, ordering: .relaxed) }
                continuation.resume(returning: isWritten)
            }
        }
    }

    private func replace(with data: Data) -> Bool {
        let temporary = "\(path).partial"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        let isComplete = (try? handle.write(contentsOf: data)) != nil && (try? handle.synchronize()) != nil
        guard isComplete, rename(temporary, path) == 0 else {
            unlink(temporary)
            return false
        }
        return syncFolder()
    }

    /// Makes the renaming durable.
    private func syncFolder() -> Bool {
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        return fsync(folder) == 0
    }
}
