import Logging
import Synchronization

/// What a disk store has to do besides what it's asked for.
struct Upkeep {
    /// The comparison of index and files, until it's done.
    var reconciliation: Reconciliation?
    /// Whether the last slice of it failed and nothing was written since.
    var isPaused = false
    /// Whether the store was over its budget and isn't below the low-water mark yet.
    var isEvicting = false
    /// Folders on their way out.
    var removedFolders: [String] = []
    /// What waits for the reconciliation.
    var waiters: [@Sendable () -> Void] = []

    /// Whether index and files are being compared.
    var isReconciling: Bool { reconciliation != nil && !isPaused }
}

// Upkeep comes in slices, so that reads and writes don't wait for it.
extension DiskEntries {
    /// So many files of a folder on its way out are removed at a time.
    private static let removalSlice = 256

    /// Does a slice of what has to be done.
    /// - Returns: whether there is more.
    func runUpkeep() -> Bool {
        guard let place = usablePlace() else {
            letWaitersGo()
            return false
        }
        if upkeep.withLock(\.isEvicting) {
            let goesOn = totals.bytes > maximumFileBytes && evictSome()
            upkeep.withLock { $0.isEvicting = goesOn }
        } else if let reconciliation = upkeep.withLock({ $0.isPaused ? nil : $0.reconciliation }) {
            reconcile(reconciliation, in: place)
        } else if let folder = upkeep.withLock(\.removedFolders.last) {
            removeSome(of: folder)
        }
        // Also when the directory was opened anew, and needs none.
        if upkeep.withLock({ !$0.isReconciling }) { letWaitersGo() }
        return isIndexDamaged || upkeep.withLock { $0.isEvicting || $0.isReconciling || !$0.removedFolders.isEmpty }
    }

    /// Runs `work` once index and files agree, as far as they can.
    func afterReconciliation(_ work: @escaping @Sendable () -> Void) {
        let isNow = upkeep.withLock { upkeep in
            if !upkeep.isReconciling || isClosed { return true }
            upkeep.waiters.append(work)
            return false
        }
        if isNow { work() }
    }

    /// Runs what waits for the reconciliation.
    func letWaitersGo() {
        let waiters = upkeep.withLock { upkeep in
            defer { upkeep.waiters = [] }
            return upkeep.waiters
        }
        for waiter in waiters { waiter() }
    }

    private func reconcile(_ reconciliation: Reconciliation, in place: OpenDirectory) {
        var reconciliation = reconciliation
        do {
            add(try reconciliation.runSlice(place.index))
            if reconciliation.isDone {
                let totals = try place.index.endReconciliation()
                counts.withLock { $0.totals = totals }
            }
        } catch {
            note(error, .writing, in: place)
            // The same slice comes again; with a new index, if this one is damaged, all of them.
            return upkeep.withLock { $0.isPaused = true }
        }
        upkeep.withLock { upkeep in
            if totals.bytes > configuration.budgetBytes { upkeep.isEvicting = true }
            upkeep.reconciliation = reconciliation.isDone ? nil : reconciliation
        }
        guard reconciliation.isDone else { return }
        reconciliation.report(to: environment.logger)
        outages.end(.index)
    }

    private func removeSome(of folder: String) {
        var limit = Self.removalSlice
        let isGone = attempt { _ throws(StorageFault) in try Files.removeSome(folder, limit: &limit) }
        // What can't be removed is left to the next opening.
        if isGone != false { upkeep.withLock { $0.removedFolders.removeAll { $0 == folder } } }
    }
}
