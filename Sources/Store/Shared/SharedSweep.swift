package import DarkroomObjectStorage

extension SharedStore {
    /// Deletes the objects of all sources that a condition selects, one source after the other, except for sources with
    /// a record after this order.
    ///
    /// Takes a request for each thousand objects, and a request for each source if the condition needs the record.
    ///
    /// - Parameters:
    ///   - isMeant: the condition on the newest record of a source; nil = all sources.
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
            deleted += try await delete(groups, upTo: order, limit, isMeant)
            guard names.count == Self.sweptAtOnce, let next = groups.last?.names.last else { return deleted }
            last = next
        }
    }

    private static let sweptAtOnce = 1_000

    /// Sources that are looked at and deleted at once: another server may write to a source again from the moment at
    /// which it was listed.
    private static let sweptTogether = 16

    private func delete(
        _ groups: [SharedName.Group], upTo order: Int64, _ limit: Duration,
        _ isMeant: (@Sendable (SharedRecord) -> Bool)?
    ) async throws(ObjectStorageError) -> Int {
        var deleted = 0
        for start in stride(from: 0, to: groups.count, by: Self.sweptTogether) {
            let results = await withTaskGroup(of: Result<Int, ObjectStorageError>.self) { tasks in
                for group in groups[start..<min(start + Self.sweptTogether, groups.count)] {
                    tasks.addTask {
                        do throws(ObjectStorageError) {
                            return .success(try await self.delete(group, upTo: order, limit, isMeant))
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                return await tasks.reduce(into: []) { $0.append($1) }
            }
            for result in results { deleted += try result.get() }
        }
        return deleted
    }

    private func delete(
        _ group: SharedName.Group, upTo order: Int64, _ limit: Duration,
        _ isMeant: (@Sendable (SharedRecord) -> Bool)?
    ) async throws(ObjectStorageError) -> Int {
        try await changes.perform(.removal, group.source) { () async throws(ObjectStorageError) in
            // This server may have written to it since the listing.
            guard !known.isNewer(than: order, group.source),
                try await isOutdated(group, upTo: order, limit, isMeant)
            else { return 0 }
            try await bucket.delete(group.names, within: limit)
            return group.names.count
        }
    }

    private func isOutdated(
        _ group: SharedName.Group, upTo order: Int64, _ limit: Duration,
        _ isMeant: (@Sendable (SharedRecord) -> Bool)?
    ) async throws(ObjectStorageError) -> Bool {
        let newest = group.names.lazy.compactMap { RecordVersion(ofRecordNamed: $0, of: group.source) }.first
        // Objects without a record belong to a source that is being written or whose writing was interrupted.
        guard let newest, newest.order <= order else { return false }
        guard let isMeant else { return true }
        guard newest.digest != nil else { return false }
        return try await record(of: group.source, newest, limit).map(isMeant) ?? false
    }
}

extension SharedStore {
    private static let deletedAtOnce = 1_000

    /// Deletes the objects of a source that was removed, however many: a variant with a fresh record would be used. A
    /// record that is newer than the removal mark stays, with what belongs to it: the write may have overtaken the
    /// removal.
    func deleteObjects(
        of source: StoreKey, removedAt mark: RecordVersion, _ limit: Duration
    ) async throws(ObjectStorageError) {
        var (isReplaced, last): (Bool, String?) = (false, nil)
        repeat {
            // Records come before variants.
            let names = try await bucket.list(
                SharedName.source(source), after: last, maxKeys: Self.deletedAtOnce, within: limit)
            let records = names.compactMap { RecordVersion(ofRecordNamed: $0, of: source) }
            isReplaced = isReplaced || records.contains { $0.order > mark.order && $0.digest != nil }
            let outdated = names.filter { name in
                RecordVersion(ofRecordNamed: name, of: source).map { $0.order <= mark.order && $0 != mark }
                    ?? !isReplaced
            }
            if !outdated.isEmpty { try await bucket.delete(outdated, within: limit) }
            last = names.count == Self.deletedAtOnce ? names.last : nil
        } while last != nil
    }
}

extension SharedName {
    /// The names of one source's objects, in order.
    fileprivate typealias Group = (source: StoreKey, names: [String])

    /// Names in order, by the source that they belong to.
    fileprivate static func groups(_ names: [String]) -> [Group] {
        var groups: [Group] = []
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
