/// Makes index and files agree after a crash, damage or a week, in slices between other work (see ``Reconciliation``).
///
/// Belongs to the writer's thread.
final class CacheRepair {
    private let directory: CacheDirectory
    /// The reconciliation under way, if any.
    private var reconciliation: Reconciliation?
    /// Whether the last slice failed and no write has succeeded since.
    private var isPaused = false
    private var waiters: [@Sendable () -> Void] = []

    init(_ directory: CacheDirectory) { self.directory = directory }

    /// Whether there is a slice to run now.
    var isRepairing: Bool { reconciliation != nil && !isPaused }

    /// Starts over with a new opening.
    func begin(_ open: OpenDirectory) {
        reconciliation = open.index.condition.isReconciliationDue ? Reconciliation(directory.layout) : nil
        isPaused = false
    }

    /// Goes on after a pause, since writes succeed again.
    func resume() { isPaused = false }

    /// Compares some folders with their rows.
    func runSlice(in open: OpenDirectory) {
        guard var reconciliation, !isPaused else { return }
        do {
            defer { directory.state.rowsChanged() }
            directory.state.totals += try reconciliation.runSlice(open.index)
            if reconciliation.isDone { directory.state.totals = try open.index.endReconciliation() }
        } catch {
            directory.report(error, .writing, in: open)
            // The same slice runs again later; with a new index, everything does.
            isPaused = true
            return
        }
        self.reconciliation = reconciliation.isDone ? nil : reconciliation
        guard reconciliation.isDone else { return }
        reconciliation.log(to: directory.environment.logger)
        directory.outages.end(.index)
    }

    /// Runs `work` once index and files agree, as far as they can.
    func whenRepaired(_ work: @escaping @Sendable () -> Void) {
        if isRepairing && !directory.isClosed { waiters.append(work) } else { work() }
    }

    func runWaiters() {
        let waiters = waiters
        self.waiters = []
        for waiter in waiters { waiter() }
    }
}
