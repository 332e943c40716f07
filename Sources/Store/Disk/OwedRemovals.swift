/// Removals that are not done yet, or that the volume refused. What they name stays out of sight until they succeed.
struct OwedRemovals {
    /// What is removed at once.
    enum Removal {
        case entry(EntryKey)
        case sources([StoreKey])
        case everything
    }

    /// More single debts than this count as one for everything.
    private static let limit = 65_536

    private(set) var entries: Set<EntryKey> = []
    private(set) var sources: Set<StoreKey> = []
    private(set) var everything = false

    var isEmpty: Bool { !everything && sources.isEmpty && entries.isEmpty }

    /// Whether the entry is as good as removed.
    func covers(_ key: EntryKey) -> Bool {
        everything || sources.contains(key.source) || entries.contains(key)
    }

    /// Adds a removal.
    mutating func insert(_ removal: Removal) {
        switch removal {
        case .entry(let key): entries.insert(key)
        case .sources(let keys): sources.formUnion(keys)
        case .everything: everything = true
        }
        if entries.count + sources.count > Self.limit {
            self = OwedRemovals()
            everything = true
        }
    }

    /// Strikes off a removal that was done.
    mutating func strike(_ removal: Removal) {
        switch removal {
        case .entry(let key): entries.remove(key)
        case .sources(let keys): sources.subtract(keys)
        case .everything: self = OwedRemovals()
        }
    }

    /// What is owed, as few removals.
    var removals: [Removal] {
        if everything { return [.everything] }
        return (sources.isEmpty ? [] : [.sources(Array(sources))]) + entries.map(Removal.entry)
    }
}
