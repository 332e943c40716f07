import DarkroomStore

/// What lookups on disk and in the shared tier have found for a request, so that the steps that follow don't look
/// again.
struct DiskFindings: Sendable {
    /// What is known of an entry.
    enum Finding<Value: Sendable>: Sendable {
        case unknown
        /// The entry; nil if there is none.
        case looked(Value?)
    }

    var record = Finding<SourceRecord>.unknown
    var variant = Finding<StoredEntry>.unknown
    var sharedVariant = Finding<StoredEntry>.unknown
}

// Answers from disk, without a task, a deadline or a second lookup: a disk that doesn't answer counts as a miss after a
// few seconds (see `DiskStore`), and the deadline begins with what follows.
extension ImageResolver {
    /// The answer to a request from entries on disk that need no waiting, without suspending; at most a few
    /// microseconds. Nil means that ``image(for:)`` has to look further.
    func imageOnDiskAtOnce(for request: ResolvedRequest) -> ImageResponse? {
        guard let disk = caches.disk, let lookup = DiskLookup(request, caches),
            let entries = disk.entriesAtOnce(for: lookup.keys)
        else { return nil }
        return answer(request, lookup.findings(in: entries, caches, request), known: lookup.known)
    }

    /// Looks on disk for the record, unless memory has it, and for the variant, at once.
    ///
    /// - Returns: the answer, or nil with what was found if ``image(for:)`` has to look further.
    func imageOnDisk(for request: ResolvedRequest) async -> (ImageResponse?, DiskFindings) {
        guard let disk = caches.disk, let lookup = DiskLookup(request, caches) else { return (nil, DiskFindings()) }
        let entries = await withCheckedContinuation { continuation in
            disk.look(for: lookup.keys) { continuation.resume(returning: $0) }
        }
        let findings = lookup.findings(in: entries, caches, request)
        return (answer(request, findings, known: lookup.known), findings)
    }

    private func answer(
        _ request: ResolvedRequest, _ findings: DiskFindings, known: SourceRecord?
    ) -> ImageResponse? {
        var record = known
        if case .looked(let found?) = findings.record { record = found }
        guard let record, case .looked(let entry?) = findings.variant else { return nil }
        return answer(request, from: record) { wanted in
            let isDocument = wanted.keys != request.keys
            if let found = variants.inMemory(wanted, of: record.content) { return found }
            return isDocument ? nil : variants.onDisk(entry, wanted, of: record.content)
        }
    }
}

/// The entries of a request to look for on disk.
private struct DiskLookup: Sendable {
    /// The record, if that is in memory. It is newer than the one on disk, or the same.
    let known: SourceRecord?
    let keys: [EntryKey]

    /// Nil if the request is not answered from disk alone.
    init?(_ request: ResolvedRequest, _ caches: PipelineCaches) {
        let tiers = request.cache.query
        guard !request.cache.waitsForDisk, tiers.variants.contains(.disk) else { return nil }
        known = caches.recordAtHand(for: request)
        keys = known == nil ? [request.keys.record, request.keys.variant] : [request.keys.variant]
    }

    func findings(
        in entries: [StoredEntry], _ caches: PipelineCaches, _ request: ResolvedRequest
    ) -> DiskFindings {
        var findings = DiskFindings()
        if known != nil {
            findings.variant = .looked(entries.first)
        } else {
            let record = entries.first.flatMap { caches.records.decode($0, of: request.keys.source) }
            if let record { caches.promote(record, request) }
            findings.record = .looked(record)
            if entries.count > 0 { findings.variant = .looked(entries.count > 1 ? entries[1] : nil) }
        }
        return findings
    }
}
