import NIOCore
import Synchronization

/// Bounds the bytes of all downloads that are under way, and of those that are whole but still in somebody's hands.
///
/// A download asks before it takes bytes in, for its announced length at once, else bit by bit; while there is no room its
/// connection is not read. Room goes to the oldest first. When nothing but downloads under way holds bytes, so that waiting would never
/// end, the oldest goes on in spite of the bound, which may then be passed by what one download may have.
final class InFlightByteBudget: Sendable {
    private struct Entry {
        var bytes = 0
        var isWhole = false
        /// What it waits for: so many bytes in all.
        var wish: (bytes: Int, promise: EventLoopPromise<Void>)?
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var usedBytes = 0
        var lastNumber = 0
        var onRoom: (@Sendable () -> Void)?
    }

    let budgetBytes: Int
    private let state = Mutex(State())

    init(budgetBytes: Int) {
        self.budgetBytes = max(1, budgetBytes)
    }

    /// What is held now.
    var usedBytes: Int { state.withLock(\.usedBytes) }

    /// Whether a new download would have to wait.
    var isFull: Bool { usedBytes >= budgetBytes }

    /// Calls back, on any thread, whenever it may have become less full.
    func whenRoom(_ call: @escaping @Sendable () -> Void) { state.withLock { $0.onRoom = call } }

    /// A new download's hold, which has no bytes yet. Its bytes are free again when nobody has the hold any more.
    func open() -> ByteReservation {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.entries[state.lastNumber] = Entry()
            return state.lastNumber
        }
        return ByteReservation(self, number: number)
    }

    /// Succeeds once the download may have so many bytes in all; fails when it ends before that.
    fileprivate func require(_ bytes: Int, for number: Int, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        let granted = state.withLock { state in
            state.entries[number]?.wish = (bytes, promise)
            return grant(&state)
        }
        for promise in granted { promise.succeed() }
        return promise.futureResult
    }

    /// The download is over. What is left of it counts on.
    fileprivate func settle(_ number: Int, bytes: Int) {
        change { state in
            guard var entry = state.entries[number] else { return nil }
            defer { state.entries[number] = entry }
            state.usedBytes += bytes - entry.bytes
            entry.bytes = bytes
            entry.isWhole = true
            return entry.wish.take()?.promise
        }
    }

    fileprivate func close(_ number: Int) {
        change { state in
            let entry = state.entries.removeValue(forKey: number)
            state.usedBytes -= entry?.bytes ?? 0
            return entry?.wish?.promise
        }
    }

    private func change(_ change: (inout State) -> EventLoopPromise<Void>?) {
        let (orphan, granted, onRoom) = state.withLock { state in (change(&state), grant(&state), state.onRoom) }
        orphan?.fail(ByteReservation.Closed())
        for promise in granted { promise.succeed() }
        onRoom?()
    }

    /// Takes out whom there is room for now, the oldest first. The lock is held.
    private func grant(_ state: inout State) -> [EventLoopPromise<Void>] {
        var granted: [EventLoopPromise<Void>] = []
        let underWay = state.entries.filter { !$0.value.isWhole }.keys.sorted()
        let mayPass = underWay.count == state.entries.count ? underWay.first : nil
        for number in underWay {
            guard let entry = state.entries[number], let wish = entry.wish else { continue }
            let more = max(wish.bytes - entry.bytes, 0)
            guard state.usedBytes + more <= budgetBytes || number == mayPass else { break }
            state.usedBytes += more
            state.entries[number] = Entry(bytes: entry.bytes + more)
            granted.append(wish.promise)
        }
        return granted
    }
}

/// One download's part of the bytes in flight; it is given back when nobody has this any more.
package final class ByteReservation: Sendable {
    struct Closed: Error {}

    private let bytes: InFlightByteBudget
    private let number: Int

    fileprivate init(_ bytes: InFlightByteBudget, number: Int) {
        self.bytes = bytes
        self.number = number
    }

    deinit { bytes.close(number) }

    /// Succeeds once there is room for so many bytes of this download in all. One call at a time.
    func require(_ count: Int, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        bytes.require(count, for: number, on: eventLoop)
    }

    /// The download is over and has left so many bytes; it takes no more.
    func settle(bytes count: Int) { bytes.settle(number, bytes: count) }
}
