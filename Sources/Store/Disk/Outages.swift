import Logging
import Synchronization

/// Says once that something ceased to work, and once that it works again, however many requests meet it in between.
final class Outages: Sendable {
    /// What may cease to work.
    enum Kind: String {
        case space = "writing stopped: the volume is nearly full"
        case writing = "writing fails"
        case reading = "reading fails"
        case directory = "without its directory, which was deleted or replaced"
        case index = "making the index again from the files"
    }

    private let current = Mutex<Set<Kind>>([])
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Whether a write would fail, as far as is known.
    var preventWriting: Bool {
        current.withLock { !$0.isDisjoint(with: [.space, .writing, .directory]) }
    }

    /// Whether the volume or the directory fails, as far as is known. A volume that is nearly full does not, and an index
    /// can be made again.
    var isFailing: Bool {
        current.withLock { !$0.isDisjoint(with: [.writing, .reading, .directory]) }
    }

    /// It doesn't work now.
    func begin(_ kind: Kind, _ metadata: @autoclosure () -> Logger.Metadata) {
        guard current.withLock({ $0.insert(kind).inserted }) else { return }
        logger.warning("disk cache: \(kind.rawValue)", metadata: metadata())
    }

    /// It works now.
    func end(_ kind: Kind) {
        guard current.withLock({ $0.remove(kind) != nil }) else { return }
        logger.notice("disk cache: no longer \(kind.rawValue)")
    }
}
