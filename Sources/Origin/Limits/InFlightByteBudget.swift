import NIOCore
import Synchronization

/// A budget for the bytes of running downloads, and of finished downloads whose bytes are still in use.
///
/// A download reserves bytes before it reads them: its announced length at once, or step by step without an announced
/// length. Its connection is not read until the reservation is granted, the oldest download first. If only running
/// downloads hold bytes, or downloads whose bytes wait for another download, waiting would never end, so the oldest
/// download proceeds and may exceed the budget by the size of one download. Once bytes that wait alone exceed the
/// budget, the latest download proceeds instead, up to twice the budget.
///
/// The downloads of one client hold at most three quarters of the budget, by the same rules; a single download may
/// exceed that. A client that requests from slow origins, or sends slowly, thus does not delay other clients.
final class InFlightByteBudget: Sendable {
    private struct Entry {
        let client: String
        var bytes = 0
        var isFinished = false
        /// The works that the bytes are held for and that wait for further downloads.
        var parkings = 0
        var isParked: Bool { parkings > 0 }
        /// The pending request: the total that the download waits for.
        var request: (bytes: Int, promise: EventLoopPromise<Void>)?
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var usedBytes = 0
        /// The bytes of the clients that hold any.
        private(set) var clientBytes: [String: Int] = [:]
        /// The number of entries with a pending request.
        var pending = 0
        var lastNumber = 0
        var onRelease: (@Sendable () -> Void)?

        var finishedBytes: Int { entries.values.reduce(0) { $0 + ($1.isFinished ? $1.bytes : 0) } }

        mutating func add(_ bytes: Int, to number: Int) {
            guard let client = entries[number]?.client else { return }
            entries[number]?.bytes += bytes
            usedBytes += bytes
            let held = clientBytes[client, default: 0] + bytes
            clientBytes[client] = held == 0 ? nil : held
        }

        /// Ends the pending request of an entry, if it has one.
        mutating func takePromise(of number: Int) -> EventLoopPromise<Void>? {
            guard let request = entries[number]?.request.take() else { return nil }
            pending -= 1
            return request.promise
        }
    }

    let budgetBytes: Int
    private var maxClientBytes: Int { max(budgetBytes / 4 * 3, 1) }
    private let state = Mutex(State())

    init(budgetBytes: Int) {
        self.budgetBytes = max(1, budgetBytes)
    }

    /// The bytes reserved now.
    var usedBytes: Int { state.withLock(\.usedBytes) }

    /// Whether a new download would have to wait.
    var isFull: Bool { usedBytes >= budgetBytes }

    /// Sets a callback that runs on any thread whenever bytes may have been released.
    func onRelease(_ call: @escaping @Sendable () -> Void) { state.withLock { $0.onRelease = call } }

    /// An empty reservation for a new download. Its bytes are released when the last reference to it ends.
    ///
    /// - Parameter client: the client of the download; the empty string counts as one client.
    func makeReservation(for client: String = "") -> ByteReservation {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.entries[state.lastNumber] = Entry(client: client)
            return state.lastNumber
        }
        return ByteReservation(self, number: number)
    }

    /// Succeeds once the download may hold that many bytes in all. Fails if it ends before that.
    fileprivate func reserve(_ bytes: Int, for number: Int, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        let (reservation, granted) = state.withLock { state -> (EventLoopFuture<Void>, [EventLoopPromise<Void>]) in
            guard let entry = state.entries[number], !entry.isFinished else {
                return (eventLoop.makeFailedFuture(ByteReservation.Closed()), [])
            }
            let more = max(bytes - entry.bytes, 0)
            if state.pending == 0, state.usedBytes + more <= budgetBytes, isWithinShare(entry, more, state) {
                state.add(more, to: number)
                return (eventLoop.makeSucceededVoidFuture(), [])
            }
            let promise = eventLoop.makePromise(of: Void.self)
            state.pending += 1
            state.entries[number]?.request = (bytes, promise)
            return (promise.futureResult, grant(&state))
        }
        for promise in granted { promise.succeed() }
        return reservation
    }

    /// Whether a client that is granted more bytes for a download stays within its share, or has only this download.
    private func isWithinShare(_ entry: Entry, _ more: Int, _ state: borrowing State) -> Bool {
        let held = state.clientBytes[entry.client] ?? 0
        return held == entry.bytes || held + more <= maxClientBytes
    }

    /// Ends the download. The bytes that it leaves stay reserved.
    fileprivate func finish(_ number: Int, bytes: Int) {
        change { state in
            guard let entry = state.entries[number] else { return nil }
            state.add(bytes - entry.bytes, to: number)
            state.entries[number]?.isFinished = true
            return state.takePromise(of: number)
        }
    }

    /// Counts one more work, or one less, that waits for further downloads.
    fileprivate func park(_ number: Int, _ change: Int) {
        self.change { state in
            state.entries[number]?.parkings += change
            return nil
        }
    }

    fileprivate func release(_ number: Int) {
        change { state in
            state.add(-(state.entries[number]?.bytes ?? 0), to: number)
            defer { state.entries[number] = nil }
            return state.takePromise(of: number)
        }
    }

    private func change(_ change: (inout State) -> EventLoopPromise<Void>?) {
        let (unfulfilled, granted, onRelease) = state.withLock { state in
            (change(&state), grant(&state), state.onRelease)
        }
        unfulfilled?.fail(ByteReservation.Closed())
        for promise in granted { promise.succeed() }
        onRelease?()
    }

    /// Grants the requests that fit into the budget now, the oldest first. The lock must be held.
    private func grant(_ state: inout State) -> [EventLoopPromise<Void>] {
        guard state.pending > 0 else { return [] }
        var granted: [EventLoopPromise<Void>] = []
        let running = state.entries.filter { !$0.value.isFinished }.keys.sorted()
        let isEnding = state.entries.values.contains { $0.isFinished && !$0.isParked }
        if !isEnding, state.finishedBytes > budgetBytes { return grantLatest(of: running, &state) }
        let mayExceed = isEnding ? nil : running.first
        let ofTheirClients = oldestOfClients(state)
        for number in running {
            guard let entry = state.entries[number], let request = entry.request else { continue }
            let more = max(request.bytes - entry.bytes, 0)
            // A download that waits for its own client's share does not delay downloads of other clients.
            guard isWithinShare(entry, more, state) || ofTheirClients[entry.client] == number else { continue }
            guard state.usedBytes + more <= budgetBytes || number == mayExceed else { break }
            state.add(more, to: number)
            if let promise = state.takePromise(of: number) { granted.append(promise) }
        }
        return granted
    }

    /// Grants the latest request that twice the budget has room for: work that alone holds more than the budget waits
    /// for downloads that began after its own. Others would let further work do so.
    private func grantLatest(of running: [Int], _ state: inout State) -> [EventLoopPromise<Void>] {
        for number in running.reversed() {
            guard let entry = state.entries[number], let request = entry.request else { continue }
            let more = max(request.bytes - entry.bytes, 0)
            guard state.usedBytes + more <= 2 * budgetBytes else { continue }
            state.add(more, to: number)
            return state.takePromise(of: number).map { [$0] } ?? []
        }
        return []
    }

    /// The oldest downloads of the clients that hold no bytes of which the work will end by itself. They may exceed
    /// their client's share.
    private func oldestOfClients(_ state: borrowing State) -> [String: Int] {
        var oldest: [String: Int] = [:]
        for (number, entry) in state.entries where !entry.isFinished {
            oldest[entry.client] = min(oldest[entry.client] ?? number, number)
        }
        for entry in state.entries.values where entry.isFinished && !entry.isParked { oldest[entry.client] = nil }
        return oldest
    }
}

/// One download's share of an ``InFlightByteBudget``, released when the last reference to it ends.
package final class ByteReservation: Sendable {
    struct Closed: Error {}

    private let budget: InFlightByteBudget
    private let number: Int

    fileprivate init(_ budget: InFlightByteBudget, number: Int) {
        self.budget = budget
        self.number = number
    }

    deinit { budget.release(number) }

    /// Succeeds once this download may hold that many bytes in all. One call at a time.
    func reserve(_ count: Int, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        budget.reserve(count, for: number, on: eventLoop)
    }

    /// Waits until this download may hold that many bytes in all. One call at a time. Cancellation ends the wait and
    /// the reservation.
    func reserve(_ count: Int, on eventLoop: any EventLoop) async throws(CancellationError) {
        let isGranted = await withTaskCancellationHandler {
            (try? await reserve(count, on: eventLoop).get()) != nil
        } onCancel: {
            finish(bytes: 0)
        }
        guard isGranted else { throw CancellationError() }
    }

    /// Holds the bytes for work that waits for further downloads, which must not wait for them in turn.
    package func park() -> Parking { Parking(self) }

    fileprivate func park(_ change: Int) { budget.park(number, change) }

    /// Ends the download, which has left that many bytes.
    func finish(bytes count: Int) { budget.finish(number, bytes: count) }
}

/// The size that a body may reach without another reservation.
struct ReservedSize {
    private var bytes = 0

    /// The step by which the reservation of a body of unknown length grows.
    private static let stepBytes = 256 << 10

    /// The size to reserve before the body reaches a size; nil if that is reserved.
    ///
    /// - Parameter received: the bytes received so far; none if the size is the announced length.
    mutating func grow(to size: Int, received: Int, atMost limit: Int) -> Int? {
        guard size > bytes else { return nil }
        let isAnnounced = bytes == 0 && received == 0
        bytes = min(isAnnounced ? size : size + Self.stepBytes, limit)
        return bytes
    }
}

/// The time in which work that holds downloaded bytes waits for further downloads. Ends with the last reference.
package final class Parking: Sendable {
    private let reservation: ByteReservation
    private let hasEnded = Atomic(false)

    fileprivate init(_ reservation: ByteReservation) {
        self.reservation = reservation
        reservation.park(1)
    }

    /// The work waits for no further download, so that downloads wait for its bytes again.
    package func end() {
        if !hasEnded.exchange(true, ordering: .relaxed) { reservation.park(-1) }
    }

    deinit { end() }
}
