/// The waiting jobs by client, in the order of fair shares.
///
/// The jobs of the same clients form a group: nearly always that is one client. A group of several clients counts for
/// the one that was served least.
struct WaitingClients {
    /// The jobs of the same clients at one priority.
    private struct Line {
        /// The jobs that have not been weighed, oldest first.
        var unweighed = IndexedHeap<Int, Int>()
        /// All jobs, newest first.
        var newest = IndexedHeap<Int, Newest>()
        var load = WaitingLoad()
    }

    private struct Group {
        let owner: String
        var lines = Array(repeating: Line(), count: Priority.allCases.count)
    }

    private struct Client {
        var groups: Set<[String]> = []
        /// The load of the groups that count for it, by priority.
        var loads = Array(repeating: WaitingLoad(), count: Priority.allCases.count)
        /// The seconds that it was served; nil unless that is above the floor of ``FairShares``.
        var servedAboveFloor: Double?

        var count: Int { loads.reduce(0) { $0 + $1.count } }
    }

    /// The place of a group's first unweighed job; lower ones go first.
    private struct Turn: Comparable {
        /// Zero for all clients that are at the floor.
        let servedAboveFloor: Double
        let number: Int

        static func < (left: Turn, right: Turn) -> Bool {
            (left.servedAboveFloor, left.number) < (right.servedAboveFloor, right.number)
        }
    }

    /// A rank that puts the client with the most jobs first.
    private struct Greed: Comparable {
        let count: Int
        let name: String

        static func < (left: Greed, right: Greed) -> Bool { (left.count, left.name) > (right.count, right.name) }
    }

    private let capacity: Admission.Capacity
    private var groups: [[String]: Group] = [:]
    private var clients: [String: Client] = [:]
    private var aboveFloor = IndexedHeap<String, Double>()
    private var byGreed = IndexedHeap<String, Greed>()
    /// By priority, the groups that have unweighed jobs.
    private var turns = Array(repeating: IndexedHeap<[String], Turn>(), count: Priority.allCases.count)

    init(capacity: Admission.Capacity) {
        self.capacity = capacity
    }

    // MARK: Changes

    mutating func insert(_ job: Admission.Job, _ rating: Urgency.Rating, _ shares: FairShares) {
        let (members, level) = (rating.clients, rating.level.rawValue)
        if groups[members] == nil { addGroup(members, shares) }
        groups[members]?.lines[level].newest.set(job.number, to: Newest(number: job.number))
        if job.weight == nil { groups[members]?.lines[level].unweighed.set(job.number, to: job.number) }
        groups[members]?.lines[level].load.add(job.weight, capacity)
        if let owner = groups[members]?.owner {
            clients[owner]?.loads[level].add(job.weight, capacity)
            updateGreed(of: owner)
        }
        updateTurn(of: members, level)
    }

    mutating func remove(_ job: Admission.Job, _ rating: Urgency.Rating) {
        let (members, level) = (rating.clients, rating.level.rawValue)
        groups[members]?.lines[level].newest.remove(job.number)
        groups[members]?.lines[level].unweighed.remove(job.number)
        groups[members]?.lines[level].load.remove(job.weight, capacity)
        if let owner = groups[members]?.owner {
            clients[owner]?.loads[level].remove(job.weight, capacity)
            updateGreed(of: owner)
        }
        updateTurn(of: members, level)
        if groups[members]?.lines.allSatisfy({ $0.newest.isEmpty }) == true { removeGroup(members) }
    }

    /// Moves the jobs of a client whose share has changed, and those of the clients that the floor has reached since.
    mutating func shareChanged(of client: String, _ shares: FairShares) {
        if clients[client] != nil { place(client, shares) }
        while let lowest = aboveFloor.first, lowest.rank <= shares.floor { place(lowest.key, shares) }
    }

    private mutating func place(_ client: String, _ shares: FairShares) {
        let served = shares.served(client)
        let above = served > shares.floor ? served : nil
        clients[client]?.servedAboveFloor = above
        if let above { aboveFloor.set(client, to: above) } else { aboveFloor.remove(client) }
        for members in clients[client]?.groups ?? [] {
            let owner = shares.leastServed(of: members)
            if let group = groups[members], group.owner != owner { hand(members, group, to: owner) }
            for level in turns.indices { updateTurn(of: members, level) }
        }
    }

    private mutating func hand(_ members: [String], _ group: Group, to owner: String) {
        groups[members] = Group(owner: owner, lines: group.lines)
        for (level, line) in group.lines.enumerated() {
            clients[group.owner]?.loads[level] -= line.load
            clients[owner]?.loads[level] += line.load
        }
        updateGreed(of: group.owner)
        updateGreed(of: owner)
    }

    private mutating func addGroup(_ members: [String], _ shares: FairShares) {
        groups[members] = Group(owner: shares.leastServed(of: members))
        for client in members {
            let isNew = clients[client] == nil
            clients[client, default: Client()].groups.insert(members)
            if isNew { place(client, shares) }
        }
    }

    private mutating func removeGroup(_ members: [String]) {
        groups[members] = nil
        for client in members {
            clients[client]?.groups.remove(members)
            guard clients[client]?.groups.isEmpty == true else { continue }
            clients[client] = nil
            aboveFloor.remove(client)
            byGreed.remove(client)
        }
    }

    private mutating func updateTurn(of members: [String], _ level: Int) {
        guard let group = groups[members], let first = group.lines[level].unweighed.first else {
            return turns[level].remove(members)
        }
        let served = clients[group.owner]?.servedAboveFloor ?? 0
        turns[level].set(members, to: Turn(servedAboveFloor: served, number: first.key))
    }

    private mutating func updateGreed(of client: String) {
        guard let count = clients[client]?.count else { return }
        byGreed.set(client, to: Greed(count: count, name: client))
    }

    // MARK: Orders

    /// The unweighed job whose turn it is.
    var firstUnweighed: Int? {
        turns.last { !$0.isEmpty }?.first?.rank.number
    }

    /// The client with the most jobs; of several, the last by name.
    var greediest: (client: String, count: Int)? { byGreed.first.map { ($0.key, $0.rank.count) } }

    func count(of client: String) -> Int { clients[client]?.count ?? 0 }

    func load(of client: String, at level: Priority) -> WaitingLoad {
        clients[client]?.loads[level.rawValue] ?? WaitingLoad()
    }

    /// The newest job of a client at a priority.
    func newest(of client: String, at level: Priority) -> Int? {
        let owned = (clients[client]?.groups ?? []).compactMap { groups[$0] }.filter { $0.owner == client }
        return owned.compactMap { $0.lines[level.rawValue].newest.first?.key }.max()
    }

    /// The loads at a priority, each with the seconds that its client was served.
    func loads(
        at level: Priority, _ shares: FairShares
    ) -> some Sequence<(client: String, served: Double, load: WaitingLoad)> {
        clients.lazy.map {
            (client: $0.key, served: $0.value.servedAboveFloor ?? shares.floor, load: $0.value.loads[level.rawValue])
        }
    }
}

/// A job's number as a rank that puts the newest first.
struct Newest: Comparable {
    let number: Int

    static func < (left: Newest, right: Newest) -> Bool { left.number > right.number }
}
