import Foundation

/// The purges that edges have not confirmed yet, for each edge in the order in which they are due.
///
/// The queue is bounded without losing a purge: repetitions of a purge are sent together, and if an edge has too many
/// purges, one purge of everything replaces them.
struct EdgeQueue: Codable, Equatable {
    struct Entry: Codable, Equatable {
        /// The number of the purge, and of the latest purge that this entry stands for.
        var sequence: Int
        var purge: EdgePurge
        /// 1 for the first request about the purge, 2 for the second.
        var round: Int
        var dueAt: Date
        /// How often the edge refused it.
        var refusals = 0
        /// Why the last attempt failed; nil if none did.
        var reason: String?
        /// Whether this entry stands for all purges up to its number.
        var isCollapsed = false
        /// How many purges that were the same as this one came before it, each while an earlier one waited.
        var repetitions = 0
        /// The number of the first purge that this entry stands for.
        var first: Int

        func stands(for number: Int, _ purge: EdgePurge) -> Bool {
            if isCollapsed { return sequence >= number }
            return sequence == number || first <= number && number < sequence && purge.repeats(self.purge)
        }

        func isSame(_ other: Entry) -> Bool { sequence == other.sequence && round == other.round }
    }

    /// The most entries of an edge.
    static let maxEntries = 1_000
    /// The number of repetitions of a purge that are sent to a webhook without a pause.
    static let promptRepetitions = 4
    private static let maxRepetitionPause = 60.0

    private(set) var entries: [String: [Entry]] = [:]
    private(set) var lastSequence = 0
    /// How often purges of an edge were replaced by a purge of everything.
    private(set) var collapses: [String: Int] = [:]

    /// Whether all numbers and dates are some that a server writes, so that calculations with them cannot overflow.
    var isPlausible: Bool {
        let list = Array(entries.values.joined())
        var numbers = list.flatMap { [$0.sequence, $0.round, $0.refusals, $0.repetitions, $0.first] }
        numbers.append(lastSequence)
        numbers += collapses.values
        let dates = list.flatMap { [$0.dueAt, $0.purge.purgedAt] }
        return numbers.allSatisfy((0...1 << 40).contains)
            && dates.allSatisfy((Date.distantPast...Date.distantFuture).contains)
    }

    /// Adds a purge for these edges.
    ///
    /// - Parameters:
    ///   - dates: when the purge is sent to each edge; at least one date.
    ///   - webhooks: the edges whose receivers may purge in turn. A repeated purge is sent to them after a pause that
    ///     grows, because such a loop would not end.
    ///   - everything: a tag that all responses have.
    /// - Returns: the number of the purge.
    mutating func add(
        _ purge: EdgePurge, for edges: [String], webhooks: Set<String> = [], at dates: [Date], everything: String
    ) -> Int {
        lastSequence += 1
        for edge in edges {
            let waiting = entries[edge, default: []].filter(purge.isRepetition)
            let repetitions = waiting.map { $0.repetitions + 1 }.max() ?? 0
            let pause = webhooks.contains(edge) ? Self.pause(after: repetitions) : 0
            for (index, date) in dates.enumerated() {
                merge(
                    Entry(
                        sequence: lastSequence, purge: purge, round: index + 1, dueAt: date.addingTimeInterval(pause),
                        repetitions: repetitions, first: lastSequence),
                    for: edge)
            }
            if entries[edge, default: []].count > Self.maxEntries { collapse(edge, everything) }
        }
        return lastSequence
    }

    private static func pause(after repetitions: Int) -> TimeInterval {
        let late = repetitions - promptRepetitions
        return late > 0 ? min(Double(1 << min(late - 1, 10)), maxRepetitionPause) : 0
    }

    /// Adds an entry. Of entries for the same round of the same purge, the earliest stays as it is, and the new one
    /// replaces the others: it is sent after all of them were due.
    private mutating func merge(_ entry: Entry, for edge: String) {
        var entry = entry
        let waiting = entries[edge, default: []].filter { $0.round == entry.round && entry.purge.isRepetition(of: $0) }
        for earlier in waiting.dropFirst() {
            entries[edge]?.removeAll(where: earlier.isSame)
            entry.first = min(entry.first, earlier.first)
            // A refused purge has the date of its next attempt.
            if earlier.refusals == 0 { entry.dueAt = max(entry.dueAt, earlier.dueAt) }
        }
        insert(entry, for: edge)
    }

    private mutating func insert(_ entry: Entry, for edge: String) {
        var list = entries[edge, default: []]
        let place = list.firstIndex { $0.dueAt > entry.dueAt } ?? list.endIndex
        list.insert(entry, at: place)
        entries[edge] = list
    }

    private mutating func collapse(_ edge: String, _ everything: String) {
        let list = entries[edge, default: []]
        guard let latest = list.map(\.dueAt).max(), let first = list.first else { return }
        let purge = EdgePurge(
            purgedAt: first.purge.purgedAt, EdgePurge.Selector(.everything), tags: [everything],
            isSoft: list.allSatisfy(\.purge.isSoft))
        // The first round is as early as the first entry, the second after the last one.
        entries[edge] = [(1, first.dueAt), (2, max(latest, first.dueAt))].map { round, date in
            Entry(
                sequence: lastSequence, purge: purge, round: round, dueAt: date, isCollapsed: true, first: lastSequence)
        }
        collapses[edge, default: 0] += 1
    }

    /// The purges to send to an edge next.
    enum Step: Equatable {
        /// Nothing waits.
        case idle
        case wait(until: Date)
        /// These purges, all of them soft or none, all in the same round.
        case send([Entry])
    }

    func next(for edge: String, _ api: EdgeAPI, at now: Date) -> Step {
        let list = entries[edge, default: []]
        guard let first = list.first else { return .idle }
        guard first.dueAt <= now else { return .wait(until: first.dueAt) }
        // Purges that were refused together may succeed one by one.
        guard first.refusals == 0 else { return .send([first]) }
        var batch: [Entry] = []
        var bytes = 0
        for entry in list where entry.dueAt <= now && entry.refusals == 0 {
            guard entry.purge.isSoft == first.purge.isSoft, entry.round == first.round else { continue }
            bytes += entry.purge.tags.reduce(0) { $0 + $1.utf8.count + 1 }
            guard batch.isEmpty || batch.count < api.maxPurges && bytes <= api.maxTagBytes else { break }
            batch.append(entry)
        }
        return .send(batch)
    }

    /// Removes purges that an edge has confirmed.
    mutating func remove(_ batch: [Entry], of edge: String) {
        entries[edge]?.removeAll { batch.contains(where: $0.isSame) }
    }

    /// Keeps purges that failed. With `retryAt`, each is tried again alone at that date, otherwise in their order.
    mutating func keep(_ batch: [Entry], of edge: String, because reason: String, retryAt: ((Entry) -> Date)? = nil) {
        for failed in batch {
            guard let index = entries[edge]?.firstIndex(where: failed.isSame),
                var entry = entries[edge]?.remove(at: index)
            else { continue }
            entry.reason = reason
            if let retryAt {
                entry.refusals += 1
                entry.dueAt = retryAt(entry)
            }
            insert(entry, for: edge)
        }
    }

    /// The first entry for a purge that an edge has not confirmed; nil if it has confirmed all.
    func pending(_ sequence: Int, _ purge: EdgePurge, for edge: String) -> Entry? {
        entries[edge]?.first { $0.stands(for: sequence, purge) }
    }

    /// Drops the purges of edges that the settings no longer have. Brings forward dates from a clock that was ahead.
    mutating func adapt(to edges: [String], latest: Date) {
        entries = entries.filter { edges.contains($0.key) }
        for (edge, list) in entries {
            entries[edge] = list.map { entry in
                var entry = entry
                entry.dueAt = min(entry.dueAt, latest)
                return entry
            }.sorted { $0.dueAt < $1.dueAt }
        }
    }
}

extension EdgePurge {
    /// Whether both remove the same, so that an edge needs only the later purge.
    fileprivate func repeats(_ other: EdgePurge) -> Bool {
        selector == other.selector && tags == other.tags && isSoft == other.isSoft
    }

    /// Whether an entry is for an earlier purge that this one repeats.
    fileprivate func isRepetition(of entry: EdgeQueue.Entry) -> Bool { !entry.isCollapsed && repeats(entry.purge) }
}
