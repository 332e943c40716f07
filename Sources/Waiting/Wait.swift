import Synchronization

/// One task's wait for an answer, which may come before the wait begins.
///
/// Its owner keeps it in a table until it is answered. Code that ends the wait early removes it from the table, and
/// answers it only if it was still there. No given answer is lost that way.
package final class Wait<Answer: Sendable>: Sendable {
    private enum State {
        case pending(CheckedContinuation<Answer, Never>?)
        case answered(Answer)
    }

    private let state = Mutex(State.pending(nil))

    package init() {}

    /// Ends the wait. Answers after the first one have no effect.
    package func end(_ answer: Answer) {
        let continuation = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            guard case .pending(let continuation) = state else { return nil }
            state = .answered(answer)
            return continuation
        }
        continuation?.resume(returning: answer)
    }

    /// Waits for the answer. Call it once.
    ///
    /// - Parameters:
    ///   - deadline: when the wait ends as if the task were canceled.
    ///   - cancel: called when the task is canceled, at once if it is already. Removes the wait from its table and ends
    ///     it, unless it was answered.
    package func answer(
        until deadline: Deadline = Deadline(), onCancel cancel: @escaping @Sendable () -> Void
    ) async -> Answer {
        await deadline.wait({ await withCheckedContinuation { begin($0) } }, endedBy: cancel)
    }

    private func begin(_ continuation: CheckedContinuation<Answer, Never>) {
        let answer = state.withLock { state -> Answer? in
            if case .answered(let answer) = state { return answer }
            state = .pending(continuation)
            return nil
        }
        if let answer { continuation.resume(returning: answer) }
    }
}

extension Wait: Hashable {
    package static func == (left: Wait, right: Wait) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A flag that one thread raises and another polls.
package final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    package var isRaised: Bool { flag.load(ordering: .relaxed) }

    package init() {}

    package func raise() { flag.store(true, ordering: .relaxed) }
}

/// Runs two pieces of work until one of them has ended, and cancels the other.
package func race(
    _ one: @escaping @Sendable () async -> Void, against other: @escaping @Sendable () async -> Void
) async {
    await withTaskGroup(of: Void.self) { tasks in
        tasks.addTask { await one() }
        tasks.addTask { await other() }
        _ = await tasks.next()
        tasks.cancelAll()
    }
}
