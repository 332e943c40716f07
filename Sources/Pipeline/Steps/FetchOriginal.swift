import Foundation
import HTTPCaching
import HTTPTypes
import NIOCore
import Origin
import Store

/// Brings the bytes of a source: from memory, from disk, or from its origin.
struct FetchOriginal: Sendable {
    let origin: any OriginFetching
    let memory: MemoryStore
    let disk: (any Storing)?
    let lifetime: OriginalLifetime
    let delegate: any ImagePipelineDelegate
    let inUse: OriginalsInUse
    let blocked: BlockedSources

    /// Larger originals would push too many variants out of memory; the disk has them.
    static let maxMemoryBytes = 1 << 20

    func callAsFunction(
        _ request: ImageRequest, keys: RequestKeys, urgency: Urgency
    ) async throws(PipelineError) -> Original {
        if let original = await cached(keys.original) { return original }
        if let failure = blocked.failure(of: keys.source, now: lifetime.now()) { throw failure }
        do throws(PipelineError) {
            let original = try await download(request, urgency: urgency)
            inUse.note(original, for: keys.source)
            return original
        } catch {
            if error != .cancelled, await delegate.shouldBlockFailedURL(request.source, error: error) {
                blocked.block(keys.source, after: error, now: lifetime.now())
            }
            throw error
        }
    }

    /// Hands a downloaded original, which has decoded well, to the caches.
    func store(_ original: Original, for key: EntryKey) {
        let entry = StoredEntry(body: original.body, metadata: original.record.bytes)
        if original.body.readableBytes <= Self.maxMemoryBytes { memory.store(entry, for: key) }
        disk?.store(entry, for: key)
    }

    private func cached(_ key: EntryKey) async -> Original? {
        if let entry = memory.entry(for: key), let original = usable(entry, .memory) { return original }
        guard let entry = await disk?.entry(for: key), let original = usable(entry, .disk) else { return nil }
        if entry.body.readableBytes <= Self.maxMemoryBytes { memory.store(entry, for: key) }
        return original
    }

    private func usable(_ entry: StoredEntry, _ layer: CacheReport.Layer) -> Original? {
        guard let record = OriginalRecord(entry.metadata), lifetime.isFresh(record) else { return nil }
        return Original(body: entry.body, record: record, layer: layer)
    }

    private func download(_ request: ImageRequest, urgency: Urgency) async throws(PipelineError) -> Original {
        guard await delegate.shouldDownload(request.source) else {
            throw .notAllowed("This source may not be downloaded.")
        }
        let fields = await delegate.originFields([:], for: request.source)
        let response: OriginResponse
        do throws(OriginError) {
            response = try await origin.fetch(
                OriginRequest(url: request.source, headers: fields, priority: urgency.level.atOrigin))
        } catch {
            throw PipelineError(error)
        }
        guard let accepted = await delegate.accept(response, for: request) else {
            throw .originFailed("The origin's answer was refused by this server's rules.")
        }
        let stated = accepted.headers[.lastModified].flatMap(HTTPDate.init(parsing:))?.date
        return Original(
            body: accepted.body, record: OriginalRecord(fetchedAt: lifetime.now(), lastModified: stated), layer: nil)
    }
}

extension Priority {
    fileprivate var atOrigin: OriginRequest.Priority {
        switch self {
        case .low: .low
        case .normal: .normal
        case .high: .high
        }
    }
}
