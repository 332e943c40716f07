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
