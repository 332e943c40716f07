import DarkroomNetwork
import DarkroomStore
import NIOCore

/// The order of the latest purge, by host, tag, prefix and source, and of the latest purge of the whole cache.
///
/// Nodes keep summaries in the shared tier, so that a node that starts needs to read only the purges after one.
struct PurgeSummary: Hashable, Sendable {
    typealias Orders = PurgedOrders.Orders

    private enum Kind: UInt8 {
        case host = 1
        case tag, prefix, source
    }

    private static let revision: UInt8 = 2
    /// The revision without purges of single sources.
    private static let firstRevision: UInt8 = 1

    var everything = Orders()
    var hosts: [String: Orders] = [:]
    var tags: [String: Orders] = [:]
    var prefixes: [String: Orders] = [:]
    var sources: [StoreKey: Orders] = [:]
    /// The order after which all purges of single sources are known; the greatest number = none are.
    var sourcesAfter = Int64.max

    /// The number of targets of lasting purges, besides everything.
    var count: Int { hosts.count + tags.count + prefixes.count }

    init() {}

    /// Whether a purge of this target adds none.
    func contains(_ target: PurgeTarget) -> Bool {
        switch target {
        case .source: false
        case .host(let host): hosts[host] != nil
        case .tag(let tag): tags[tag] != nil
        case .prefix(let prefix): prefixes[prefix] != nil
        case .everything: true
        }
    }

    /// Adds a lasting purge.
    mutating func include(_ orders: Orders, of target: PurgeTarget) {
        switch target {
        case .source: break
        case .host(let host): hosts[host, default: Orders()].include(orders)
        case .tag(let tag): tags[tag, default: Orders()].include(orders)
        case .prefix(let prefix): prefixes[prefix, default: Orders()].include(orders)
        case .everything: everything.include(orders)
        }
    }

    /// Adds the purges of another summary.
    mutating func include(_ other: PurgeSummary) {
        everything.include(other.everything)
        for (host, orders) in other.hosts { hosts[host, default: Orders()].include(orders) }
        for (tag, orders) in other.tags { tags[tag, default: Orders()].include(orders) }
        for (prefix, orders) in other.prefixes { prefixes[prefix, default: Orders()].include(orders) }
        for (source, orders) in other.sources { sources[source, default: Orders()].include(orders) }
    }

    /// The same without targets that were purged only up to this order.
    func after(_ order: Int64) -> PurgeSummary {
        var summary = self
        summary.hosts = hosts.filter { $0.value.last > order }
        summary.tags = tags.filter { $0.value.last > order }
        summary.prefixes = prefixes.filter { $0.value.last > order }
        summary.forgetSources(upTo: order)
        return summary
    }

    /// Removes purges of single sources up to this order.
    mutating func forgetSources(upTo order: Int64) {
        sources = sources.filter { $0.value.last > order }
        sourcesAfter = max(sourcesAfter, order)
    }
}

// The encoding: a revision, the orders of everything, the order after which the sources are known, and for each target
// its kind, its orders, and its text or key.
extension PurgeSummary {
    var bytes: ByteBuffer {
        var bytes = ByteBuffer(integer: Self.revision)
        bytes.write(everything)
        bytes.writeInteger(sourcesAfter)
        for (kind, targets) in [(Kind.host, hosts), (.tag, tags), (.prefix, prefixes)] {
            for (text, orders) in targets {
                bytes.writeInteger(kind.rawValue)
                bytes.write(orders)
                bytes.writeInteger(UInt32(clamping: text.utf8.count))
                bytes.writeString(text)
            }
        }
        for (source, orders) in sources {
            bytes.writeInteger(Kind.source.rawValue)
            bytes.write(orders)
            bytes.writeBytes(source.bytes)
        }
        return bytes
    }

    /// Decodes a summary; nil if the bytes are of a later revision or malformed.
    ///
    /// - Parameter latest: the latest plausible order. A later one would outdate all records permanently.
    init?(_ bytes: ByteBuffer, latest: Int64) {
        var bytes = bytes
        guard let revision = bytes.readInteger(as: UInt8.self),
            (Self.firstRevision...Self.revision).contains(revision), let everything = bytes.readOrders(latest),
            let sourcesAfter = revision == Self.firstRevision ? Int64.max : bytes.readInteger(as: Int64.self)
        else { return nil }
        (self.everything, self.sourcesAfter) = (everything, sourcesAfter)
        while bytes.readableBytes > 0 {
            guard let kind = bytes.readInteger(as: UInt8.self).flatMap(Kind.init(rawValue:)),
                let orders = bytes.readOrders(latest), include(orders, of: kind, readingFrom: &bytes)
            else { return nil }
        }
    }

    /// - Returns: false if the target is malformed.
    private mutating func include(_ orders: Orders, of kind: Kind, readingFrom bytes: inout ByteBuffer) -> Bool {
        if kind == .source {
            guard let key = bytes.readKey() else { return false }
            sources[key, default: Orders()].include(orders)
            return true
        }
        guard let length = bytes.readInteger(as: UInt32.self), length <= SourceURL.maximumBytes,
            let utf8 = bytes.readSlice(length: Int(length)),
            let text = String(validating: utf8.readableBytesView, as: UTF8.self)
        else { return false }
        switch kind {
        case .host: include(orders, of: .host(text))
        case .tag: include(orders, of: .tag(text))
        case .prefix: include(orders, of: .prefix(text))
        case .source: break
        }
        return true
    }
}

extension ByteBuffer {
    fileprivate mutating func write(_ orders: PurgedOrders.Orders) {
        writeInteger(orders.removed)
        writeInteger(orders.stale)
        writeInteger(orders.doubtful)
    }

    fileprivate mutating func readOrders(_ latest: Int64) -> PurgedOrders.Orders? {
        guard let removed = readInteger(as: Int64.self), let stale = readInteger(as: Int64.self),
            let doubtful = readInteger(as: Int64.self), min(removed, stale, doubtful) >= -1,
            max(removed, stale, doubtful) <= latest
        else { return nil }
        return PurgedOrders.Orders(removed: removed, stale: stale, doubtful: doubtful)
    }
}

/// How far a server has carried out the purges in the log, kept on disk with the entries that they concern. Each purge
/// is thus carried out once on each disk: it would otherwise remove what was stored after it.
struct PurgeProgress: Hashable, Sendable {
    /// The entry on disk that holds the progress. No source has its key.
    static let key: EntryKey = {
        let key = StoreKey(hashing: "position in the purge log".utf8)
        return EntryKey(source: key, entry: key)
    }()
    /// The most purges that are kept by name, the latest; an index row holds them. Older ones may be carried out again.
    private static let maxNames = 1_900

    /// The time until which the log was read, in milliseconds since 1970. All purges were carried out that are older
    /// than this time less ``PurgeFollower/overlap``.
    var position: Int64
    /// The later purges that were carried out.
    var done: Set<PurgeLog.Name> = []
    /// See ``UnconfirmedRecords/distrustedUntil``.
    var distrustedUntil = Int64.min

    init(position: Int64) {
        self.position = position
    }

    /// Whether a purge has not been carried out.
    func lacks(_ name: PurgeLog.Name) -> Bool {
        name.time >= position - PurgeFollower.overlap && !done.contains(name)
    }

    /// Decodes a progress; nil if the bytes are malformed.
    init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard let position = bytes.readInteger(as: Int64.self), let distrustedUntil = bytes.readInteger(as: Int64.self)
        else { return nil }
        self.init(position: position)
        self.distrustedUntil = distrustedUntil
        while let name = PurgeLog.Name(readingFrom: &bytes) { done.insert(name) }
    }

    var bytes: ByteBuffer {
        var bytes = ByteBuffer(integer: position)
        bytes.writeInteger(distrustedUntil)
        for name in done.sorted().suffix(Self.maxNames) { name.write(to: &bytes) }
        return bytes
    }
}
