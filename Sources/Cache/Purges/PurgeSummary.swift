import DarkroomNetwork
import NIOCore

/// A summary of the lasting purges: the latest order for each host, tag and prefix, and for everything.
///
/// Nodes keep summaries in the shared tier, so that a node that starts needs to read only the purges after one.
struct PurgeSummary: Hashable, Sendable {
    typealias Orders = PurgedOrders.Orders

    private enum Kind: UInt8 {
        case host = 1
        case tag, prefix
    }

    private static let revision: UInt8 = 1

    var everything = Orders()
    var hosts: [String: Orders] = [:]
    var tags: [String: Orders] = [:]
    var prefixes: [String: Orders] = [:]

    /// The number of targets besides everything.
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

    /// Adds a purge. Purges of single sources do not last.
    mutating func include(_ orders: Orders, of target: PurgeTarget) {
        switch target {
        case .source: break
        case .host(let host): hosts[host, default: Orders()].include(orders)
        case .tag(let tag): tags[tag, default: Orders()].include(orders)
        case .prefix(let prefix): prefixes[prefix, default: Orders()].include(orders)
        case .everything: everything.include(orders)
        }
    }

    /// Adds another summary.
    mutating func include(_ other: PurgeSummary) {
        everything.include(other.everything)
        for (host, orders) in other.hosts { hosts[host, default: Orders()].include(orders) }
        for (tag, orders) in other.tags { tags[tag, default: Orders()].include(orders) }
        for (prefix, orders) in other.prefixes { prefixes[prefix, default: Orders()].include(orders) }
    }

    /// The same without targets that were purged only up to this order.
    func after(_ order: Int64) -> PurgeSummary {
        var summary = self
        summary.hosts = hosts.filter { $0.value.last > order }
        summary.tags = tags.filter { $0.value.last > order }
        summary.prefixes = prefixes.filter { $0.value.last > order }
        return summary
    }
}

// The encoding: a revision, the orders of everything, and for each target its kind, its orders and its text.
extension PurgeSummary {
    var bytes: ByteBuffer {
        var bytes = ByteBuffer(integer: Self.revision)
        bytes.write(everything)
        for (kind, targets) in [(Kind.host, hosts), (.tag, tags), (.prefix, prefixes)] {
            for (text, orders) in targets {
                bytes.writeInteger(kind.rawValue)
                bytes.write(orders)
                bytes.writeInteger(UInt32(clamping: text.utf8.count))
                bytes.writeString(text)
            }
        }
        return bytes
    }

    /// Decodes a summary; nil if the bytes are of another revision or malformed.
    ///
    /// - Parameter latest: the latest plausible order. A later one would outdate all records permanently.
    init?(_ bytes: ByteBuffer, latest: Int64) {
        var bytes = bytes
        guard bytes.readInteger(as: UInt8.self) == Self.revision, let everything = bytes.readOrders(latest) else {
            return nil
        }
        self.everything = everything
        while bytes.readableBytes > 0 {
            guard let kind = bytes.readInteger(as: UInt8.self).flatMap(Kind.init(rawValue:)),
                let orders = bytes.readOrders(latest), let length = bytes.readInteger(as: UInt32.self),
                length <= SourceURL.maximumBytes, let utf8 = bytes.readSlice(length: Int(length)),
                let text = String(validating: utf8.readableBytesView, as: UTF8.self)
            else { return nil }
            switch kind {
            case .host: include(orders, of: .host(text))
            case .tag: include(orders, of: .tag(text))
            case .prefix: include(orders, of: .prefix(text))
            }
        }
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
