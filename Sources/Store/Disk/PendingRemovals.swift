/// Removals that are under way or that the volume refused. Their entries stay hidden until the removal succeeds.
struct PendingRemovals {
    /// A unit of removal.
    enum Removal {
        case entry(EntryKey)
        case sources([StoreKey])
        case everything
    }

    /// With more single removals than this, everything is removed instead.
    private static let limit = 65_536

    private var entries: Set<EntryKey> = []
    private var sources: Set<StoreKey> = []
    private var everything = false

    /// Whether one of the removals includes this entry.
    func contains(_ key: EntryKey) -> Bool {
        everything || sources.contains(key.source) || entries.contains(key)
    }

    mutating func insert(_ removal: Removal) {
        switch removal {
        case .entry(let key): entries.insert(key)
        case .sources(let keys): sources.formUnion(keys)
        case .everything: everything = true
        }
        if entries.count + sources.count > Self.limit {
            self = PendingRemovals()
            everything = true
        }
    }

    mutating func remove(_ removal: Removal) {
        switch removal {
        case .entry(let key): entries.remove(key)
        case .sources(let keys): sources.subtract(keys)
        case .everything: self = PendingRemovals()
        }
    }

    /// The removals, merged into as few as possible.
    var removals: [Removal] {
        if everything { return [.everything] }
        return (sources.isEmpty ? [] : [.sources(Array(sources))]) + entries.map(Removal.entry)
    }
}
