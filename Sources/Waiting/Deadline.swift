import Synchronization

/// A moment after which one piece of work no longer waits. It needs neither a task nor a timer of its own.
///
/// The work waits in one place at a time, and provides there a way to end the wait. A wait that is ended fails as if it
/// were canceled.
package final class Deadline: Sendable {
    private struct State {
        var hasPassed = false
        var endWait: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    package var hasPassed: Bool { state.withLock(\.hasPassed) }

    /// Ends the wait, if one is in progress.
    package func pass() {
        let endWait = state.withLock { state in
            state.hasPassed = true
            return state.endWait.take()
        }
        endWait?()
    }

    /// Runs an operation that waits.
    ///
    /// - Parameter endWait: makes the operation return promptly. Called on any thread when the deadline passes or the
    ///   task is canceled, at once if that has happened before; at most once for each reason.
    package func wait<Value>(
        _ operation: () async -> Value, endedBy endWait: @escaping @Sendable () -> Void
    ) async -> Value {
        let hasPassed = state.withLock { state in
            if !state.hasPassed { state.endWait = endWait }
            return state.hasPassed
        }
        if hasPassed { endWait() }
        defer { state.withLock { $0.endWait = nil } }
        return await withTaskCancellationHandler(operation: operation, onCancel: endWait)
    }

    /// Runs an operation that ends promptly when its task is canceled, in a task that the deadline cancels.
    package func run<Value: Sendable, Failure: Error>(
        _ operation: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let work = Task { await Result(catching: operation) }
        return try await wait {
            await work.value
        } endedBy: {
            work.cancel()
        }.get()
    }
}

/// Runs `operation` in a separate task, and cancels the task once the time limit of `timer` has passed.
///
/// The function returns only after `operation` has ended, so that nothing it started outlives the call: the operation
/// must respond to cancellation promptly.
///
/// - Parameter expired: the error to throw if `operation` fails after the deadline.
package func withDeadline<Value: Sendable, Failure: Error>(
    _ timer: DeadlineTimer, expired: Failure, _ operation: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    let deadline = Deadline()
    let number = timer.begin(deadline.pass)
    defer { timer.end(number) }
    do throws(Failure) {
        return try await deadline.run(operation)
    } catch {
        throw deadline.hasPassed ? expired : error
    }
}

/// A deadline of work in several phases, whose error can name the phase in which it passed.
package final class PhasedDeadline<Phase: Sendable>: Sendable {
    package let deadline = Deadline()
    private let phase: Mutex<Phase>

    /// - Parameter phase: the first phase.
    package init(_ phase: Phase) {
        self.phase = Mutex(phase)
    }

    /// Enters the next phase. The phase no longer changes once the deadline has passed.
    package func enter(_ next: Phase) {
        phase.withLock { if !deadline.hasPassed { $0 = next } }
    }

    /// The phase in which the deadline passed; nil if it has not.
    package var phaseWhenPassed: Phase? { phase.withLock { deadline.hasPassed ? $0 : nil } }
}

extension Result where Success: Sendable {
    /// The outcome of an operation.
    package init(catching operation: () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await operation()) } catch { self = .failure(error) }
    }
}
