package import DarkroomMachine
package import NIOCore
import NIOPosix

/// A budget for the bytes of sources that clients send. It is separate from the budget of downloads, so that slow
/// clients do not keep the server from fetching.
package struct UploadBudget: Sendable {
    private let budget: InFlightByteBudget
    /// The maximum size of a source in bytes.
    package let maxSourceBytes: Int

    /// - Parameter budgetBytes: the bytes of uploads that are being received or processed; further uploads wait.
    package init(budgetBytes: Int, maxSourceBytes: Int) {
        budget = InFlightByteBudget(budgetBytes: budgetBytes)
        self.maxSourceBytes = min(maxSourceBytes, SharedBytesWriter.maxBytes)
    }

    /// The bytes of uploads that are being received, and of received uploads whose bytes are still in use.
    package var usedBytes: Int { budget.usedBytes }

    /// A collector for the bytes of one source.
    ///
    /// - Parameter client: the client that sends the bytes.
    package func makeCollector(for client: String) -> UploadCollector {
        UploadCollector(reservation: budget.makeReservation(for: client), maxBytes: maxSourceBytes)
    }
}

/// Collects the bytes of one source as they arrive, and hashes them meanwhile.
package struct UploadCollector: Sendable {
    private let reservation: ByteReservation
    private let maxBytes: Int
    private var bytes = SharedBytesWriter()
    private var reserved = ReservedSize()

    /// The reason why a part was not accepted.
    package enum Failure: Error {
        case tooLarge
        /// The task was canceled while it waited for the budget.
        case canceled
    }

    fileprivate init(reservation: ByteReservation, maxBytes: Int) {
        self.reservation = reservation
        self.maxBytes = maxBytes
    }

    /// The number of bytes so far.
    package var count: Int { bytes.count }

    /// Adds bytes, after waiting for the budget. Only bytes that have arrived are reserved: an announced length costs
    /// its sender nothing.
    package mutating func append(_ part: ByteBuffer) async throws(Failure) {
        let size = bytes.count + part.readableBytes
        guard size <= maxBytes else { throw .tooLarge }
        if let reserved = reserved.grow(to: size, received: size, atMost: maxBytes) {
            do throws(CancellationError) {
                try await reservation.reserve(reserved, on: MultiThreadedEventLoopGroup.singleton.any())
            } catch {
                throw .canceled
            }
        }
        bytes.append(part)
    }

    /// The bytes, and the reservation that counts them until it is released. Nothing may be appended afterward.
    package consuming func finish() -> (SharedBytes, ByteReservation) {
        reservation.finish(bytes: bytes.count)
        return (bytes.finish(), reservation)
    }
}
