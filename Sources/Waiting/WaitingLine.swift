/// One of the waiters in a ``WaitingLine``.
@usableFromInline package protocol WaitingLineMember: AnyObject {
    associatedtype Level: Comparable

    /// Ascending in order of arrival.
    var number: Int { get }
    /// The client that the waiter counts for.
    var client: String { get }
    var level: Level { get }
}

/// A line of waiters of many clients, whose places are shared fairly.
///
/// A decision scans all waiters, in a few microseconds for a thousand, so its owner keeps no other order than the order
/// of arrival.
@usableFromInline package struct WaitingLine<Member: WaitingLineMember> {
    @usableFromInline package private(set) var members: [Member] = []
    private var clients = Tally()

    package init() {}

    @inlinable package var count: Int { members.count }

    package mutating func append(_ member: Member) {
        members.append(member)
        clients.add(member.client)
    }

    @discardableResult
    package mutating func remove(at index: Int) -> Member {
        let member = members.remove(at: index)
        clients.remove(member.client)
        return member
    }

    package mutating func remove(_ number: Int) -> Member? {
        members.firstIndex { $0.number == number }.map { remove(at: $0) }
    }

    /// Changes a waiter, also its client.
    package mutating func change(_ member: Member, _ body: () -> Void) {
        let client = member.client
        body()
        guard member.client != client else { return }
        clients.remove(client)
        clients.add(member.client)
    }

    /// The place of the waiter with the lowest rank.
    ///
    /// - Parameter rank: nil for a waiter that must wait longer.
    @inlinable package func first<Rank: Comparable>(by rank: (Member) -> Rank?) -> (index: Int, rank: Rank)? {
        var first: (index: Int, rank: Rank)?
        for index in members.indices {
            guard let rank = rank(members[index]) else { continue }
            if first.map({ rank < $0.rank }) ?? true { first = (index, rank) }
        }
        return first
    }

    /// The place that a newcomer takes in a full line: the place of the newest waiter of the lowest level below its
    /// own, or else of the client with the most waiters, if these are more than the newcomer's client would then have.
    /// Of several such clients, the last by name.
    ///
    /// - Parameter clients: the clients of the newcomer.
    @inlinable package func victim(for clients: [String], at level: Member.Level) -> Int? {
        guard let lowest = members.lazy.map(\.level).min() else { return nil }
        if lowest < level { return newest { $0.level == lowest } }
        guard let greediest = greediestClient(comparedTo: clients) else { return nil }
        return newest { $0.level == level && $0.client == greediest }
    }

    @usableFromInline func greediestClient(comparedTo newcomers: [String]) -> String? {
        let own = newcomers.map { clients[$0] }.min() ?? 0
        guard let greediest = clients.greatest, greediest.count > own + 1, !newcomers.contains(greediest.name)
        else { return nil }
        return greediest.name
    }

    @inlinable func newest(where isIncluded: (Member) -> Bool) -> Int? {
        first { isIncluded($0) ? -$0.number : nil }?.index
    }
}

/// Counts by name, such as the name of a client.
package struct Tally: Sendable {
    /// The sum of all counts.
    package private(set) var total = 0
    /// The counts above zero.
    private var counts: [String: Int] = [:]

    package init() {}

    package subscript(name: String) -> Int { counts[name] ?? 0 }

    /// The greatest count; of several, the last by name.
    package var greatest: (name: String, count: Int)? {
        counts.max { ($0.value, $0.key) < ($1.value, $1.key) }.map { ($0.key, $0.value) }
    }

    package mutating func add(_ name: String) {
        total += 1
        counts[name, default: 0] += 1
    }

    /// Takes back an addition.
    package mutating func remove(_ name: String) {
        total -= 1
        counts[name] = counts[name].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}

/// The time for which each client has been served, so that the client served least goes first (start-time fair
/// queueing; Goyal, Vin and Cheng, 1996).
///
/// A new client, or one that returns after a pause, starts level with the client being served: idle time earns no
/// credit.
package struct FairShares {
    /// The most clients that are tracked. Beyond it all clients start over.
    package static let maxClients = 4096

    private var served: [String: Double] = [:]
    /// The least that any client counts as served. It only rises.
    package private(set) var floor = 0.0

    package init() {}

    /// The seconds that a client has been served.
    package func served(_ client: String) -> Double { max(served[client] ?? floor, floor) }

    package func leastServed(of clients: [String]) -> String {
        clients.min { served($0) < served($1) } ?? ""
    }

    /// Charges a client for work that starts, as estimated.
    package mutating func charge(_ client: String, seconds: Double) {
        floor = served(client)
        served[client] = floor + seconds
        if served.count > Self.maxClients { evict() }
    }

    /// Corrects a client's charge by the difference between the actual and the estimated time.
    package mutating func correct(_ client: String, bySeconds seconds: Double) {
        guard let seconds = served[client].map({ $0 + seconds }) else { return }
        served[client] = seconds
    }

    private mutating func evict() {
        served = served.filter { $0.value > floor }
        if served.count > Self.maxClients / 2 {
            floor = served.values.max() ?? floor
            served = [:]
        }
    }
}
