import Foundation
import Synchronization

/// A self-pipe that wakes a thread blocked in `poll(2)`.
final class WakePipe: Sendable {
    private let pipe = Pipe()
    private let hasPendingByte = Atomic(false)

    /// Readable from the first ``wake()`` until ``drain()``.
    var descriptor: Int32 { pipe.fileHandleForReading.fileDescriptor }

    /// Whether a wake-up is pending.
    var isSignaled: Bool { hasPendingByte.load(ordering: .acquiring) }

    /// Never blocks: the pipe holds at most one byte.
    func wake() {
        guard !hasPendingByte.exchange(true, ordering: .acquiringAndReleasing) else { return }
        _ = write(pipe.fileHandleForWriting.fileDescriptor, [1], 1)
    }

    /// Clears the pending wake-up. Call it before looking for work, so that no wake-up is lost.
    func drain() {
        var byte: UInt8 = 0
        guard isSignaled else { return }
        _ = read(descriptor, &byte, 1)
        hasPendingByte.store(false, ordering: .releasing)
    }
}
