extension AnswerImage {
    /// In which tiers the entries of a request are.
    func location(of wanted: Wanted) async -> CacheLocation {
        var location = CacheLocation()
        guard let record = await keep.records.anywhere(wanted.keys.source) else { return location }
        func note(_ layer: CacheReport.Layer, _ tiers: inout TierSet) {
            tiers.insert(layer == .memory ? .memory : .disk)
        }
        for tier in [TierSet.memory, .disk] {
            var wanted = wanted
            wanted.request.cache.query = TierSelection(originals: tier, variants: tier)
            wanted.request.cache.store = .none
            if let found = await find(wanted, of: record.content) { note(found.layer, &location.variant) }
            if let layer = await load.stored(wanted, record)?.layer { note(layer, &location.original) }
        }
        return location
    }
}
