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
    /// The number of waiters of each client.
    private var counts: [String: Int] = [:]

    package init() {}

    @inlinable package var count: Int { members.count }

    package mutating func append(_ member: Member) {
        members.append(member)
        counts[member.client, default: 0] += 1
    }

    @discardableResult
    package mutating func remove(at index: Int) -> Member {
        let member = members.remove(at: index)
        uncount(member.client)
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
        uncount(client)
        counts[member.client, default: 0] += 1
    }

    private mutating func uncount(_ client: String) {
        counts[client] = counts[client].flatMap { $0 > 1 ? $0 - 1 : nil }
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

    @usableFromInline func greediestClient(comparedTo clients: [String]) -> String? {
        let own = clients.map { counts[$0] ?? 0 }.min() ?? 0
        guard let greediest = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }), greediest.value > own + 1,
            !clients.contains(greediest.key)
        else { return nil }
        return greediest.key
    }

    @inlinable func newest(where isIncluded: (Member) -> Bool) -> Int? {
        first { isIncluded($0) ? -$0.number : nil }?.index
    }
}
