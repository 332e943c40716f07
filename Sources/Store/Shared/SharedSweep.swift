package import DarkroomObjectStorage

extension SharedStore {
    /// Deletes the objects of all sources that a condition selects, one source after the other, except for those with
    /// a record after this order.
    ///
    /// Takes a request for each thousand objects, and one for each source if the condition needs the record.
    ///
    /// - Parameters:
    ///   - isMeant: gets the newest record of a source; nil = all sources are meant.
    ///   - limit: the time for each request.
    /// - Returns: the number of deleted objects.
    @discardableResult
    package func sweep(
        upTo order: Int64, within limit: Duration, isMeant: (@Sendable (SharedRecord) -> Bool)?
    ) async throws(ObjectStorageError) -> Int {
        var (deleted, last): (Int, String?) = (0, nil)
        while true {
            let names = try await bucket.list(
                SharedName.sources, after: last, maxKeys: Self.sweptAtOnce, within: limit)
            var groups = SharedName.groups(names)
            // The last source may have more objects than were listed.
            if names.count == Self.sweptAtOnce, groups.count > 1 { groups.removeLast() }
            for (source, names) in groups where try await isOutdated(source, names, upTo: order, limit, isMeant) {
                try await bucket.delete(names, within: limit)
                deleted += names.count
            }
            guard names.count == Self.sweptAtOnce, let next = groups.last?.names.last else { return deleted }
            last = next
        }
    }

    private static let sweptAtOnce = 1_000

    private func isOutdated(
        _ source: StoreKey, _ names: [String], upTo order: Int64, _ limit: Duration,
        _ isMeant: (@Sendable (SharedRecord) -> Bool)?
    ) async throws(ObjectStorageError) -> Bool {
        let newest = names.lazy.compactMap { RecordVersion(ofRecordNamed: $0, of: source) }.first
        // Objects without a record are those of a source that is being written, or was.
        guard let newest, newest.order <= order else { return false }
        guard let isMeant else { return true }
        guard newest.digest != nil else { return false }
        return try await record(of: source, newest, limit).map(isMeant) ?? false
    }
}

extension SharedName {
    /// Names in order, by the source that they belong to.
    fileprivate static func groups(_ names: [String]) -> [(source: StoreKey, names: [String])] {
        var groups: [(source: StoreKey, names: [String])] = []
        for name in names {
            let hex = name.dropFirst(sources.count).prefix(2 * StoreKey.byteCount)
            guard let source = StoreKey(hex: hex), name.hasPrefix(self.source(source)) else { continue }
            if groups.last?.source == source {
                groups[groups.count - 1].names.append(name)
            } else {
                groups.append((source, [name]))
            }
        }
        return groups
    }
}
