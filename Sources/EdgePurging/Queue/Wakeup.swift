import DarkroomWaiting
import Synchronization

/// Wakes one task that waits for work. A call before the wait counts too.
final class Wakeup: Sendable {
    private struct State {
        var isDue = false
        var wait: Wait<Void>?
    }

    private let state = Mutex(State())

    func wake() {
        let wait = state.withLock { state in
            state.isDue = state.wait == nil
            return state.wait.take()
        }
        wait?.end(())
    }

    /// Returns once ``wake()`` is called, or was since the last return, or the task is canceled.
    func wait() async {
        let wait = Wait<Void>()
        let isDue = state.withLock { state in
            if state.isDue {
                state.isDue = false
                return true
            }
            state.wait = wait
            return false
        }
        if isDue { return }
        await wait.answer { [self] in
            state.withLock { if $0.wait == wait { $0.wait = nil } }
            wait.end(())
        }
    }
}
