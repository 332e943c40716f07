import DarkroomTestLogs
import Dispatch
import Synchronization

@testable import DarkroomStore

/// Holds a store's writer before its next write until the gate is lifted; closed at first.
final class WriterGate: Sendable {
    /// The free share of the volume that the store is given.
    let free = Mutex(0.5)
    private let semaphore = DispatchSemaphore(value: 0)

    func open(
        _ fixture: DiskFixture, _ change: (inout DiskStore.Configuration) -> Void = { _ in }
    ) async throws(DiskStoreError) -> DiskStore {
        var configuration = DiskStore.Configuration(directory: fixture.folder.path)
        change(&configuration)
        return try await DiskStore(
            configuration, logger: fixture.log.logger,
            freeFraction: { [self] _ in
                semaphore.wait()
                semaphore.signal()
                return free.withLock { $0 }
            })
    }

    func lift() {
        semaphore.signal()
    }

    /// Closes the gate again, while nothing is queued.
    func close() {
        semaphore.wait()
    }
}
