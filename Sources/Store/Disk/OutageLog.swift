import Logging
import Synchronization

/// The outages of a disk store. Logs the beginning and the end of each outage once, however many requests notice it in
/// between.
final class OutageLog: Sendable {
    enum Outage {
        case shortage, space, writing, reading, directory, index

        fileprivate var messages: (beginning: String, end: String) {
            switch self {
            case .shortage:
                ("evicting entries below the budget: the volume is nearly full", "the volume has had space for an hour")
            case .space: ("writing stopped: the volume is nearly full", "writing resumed: the volume has space again")
            case .writing: ("writing fails", "writing works again")
            case .reading: ("reading fails", "reading works again")
            case .directory: ("the directory was deleted or replaced", "the directory is in place again")
            case .index: ("rebuilding the index from the files", "rebuilt the index")
            }
        }
    }

    private let current = Mutex<Set<Outage>>([])
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Whether an outage is known that makes writes fail.
    var preventsWriting: Bool {
        current.withLock { !$0.isDisjoint(with: [.space, .writing, .directory]) }
    }

    /// Whether the volume or the directory is known to fail. A full volume and an index that is being rebuilt are not
    /// failures: requests are answered without writing.
    var isFailing: Bool {
        current.withLock { !$0.isDisjoint(with: [.writing, .reading, .directory]) }
    }

    /// Records that an outage goes on, and logs it if it is new.
    func begin(_ outage: Outage, _ metadata: @autoclosure () -> Logger.Metadata) {
        guard current.withLock({ $0.insert(outage).inserted }) else { return }
        logger.warning("disk cache: \(outage.messages.beginning)", metadata: metadata())
    }

    /// Records that the outage is absent. Logs its end if it was recorded before.
    func end(_ outage: Outage) {
        guard current.withLock({ $0.remove(outage) != nil }) else { return }
        logger.notice("disk cache: \(outage.messages.end)")
    }
}
