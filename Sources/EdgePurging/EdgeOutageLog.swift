import Logging
import Synchronization

/// Logs the first failure and the end of each outage of an edge, and nothing in between.
final class EdgeOutageLog: Sendable {
    private let logger: Logger
    private let failing = Mutex<Set<String>>([])

    init(_ logger: Logger) { self.logger = logger }

    func record(_ verdict: EdgeVerdict, _ edge: String) {
        switch verdict {
        case .told: record(true, edge, reason: "")
        case .postponed(_, let reason), .refused(let reason): record(false, edge, reason: reason)
        }
    }

    /// Records the result of an edge, or of another thing that can fail. The reason must not contain secrets.
    func record(_ succeeded: Bool, _ name: String, reason: String) {
        let isNews = failing.withLock { failing in
            succeeded ? failing.remove(name) != nil : failing.insert(name).inserted
        }
        guard isNews else { return }
        if succeeded {
            logger.info("an edge confirms purges again", metadata: ["edge": "\(name)"])
        } else {
            logger.warning(
                "an edge did not confirm a purge, which stays in the queue",
                metadata: ["edge": "\(name)", "reason": "\(reason)"])
        }
    }
}
