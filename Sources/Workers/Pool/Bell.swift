import Foundation
import Synchronization

/// Wakes a thread that waits for descriptors.
final class Bell: Sendable {
    private let pipe = Pipe()
    private let isRinging = Atomic(false)

    /// Readable from the first ring on until it is silenced.
    var descriptor: Int32 { pipe.fileHandleForReading.fileDescriptor }

    /// Whether somebody has rung and nobody has heard it.
    var isRung: Bool { isRinging.load(ordering: .acquiring) }

    /// Never waits: one byte is all that is ever in the pipe.
    func ring() {
        guard !isRinging.exchange(true, ordering: .acquiringAndReleasing) else { return }
        _ = write(pipe.fileHandleForWriting.fileDescriptor, [1], 1)
    }

    /// Call it before looking for what there is to do, so that no ring is missed.
    func silence() {
        var byte: UInt8 = 0
        guard isRung else { return }
        _ = read(descriptor, &byte, 1)
        isRinging.store(false, ordering: .releasing)
    }
}
