import DarkroomCache
import DarkroomHTTPCaching
import DarkroomStore
import Foundation

// A mark is resolved before its request, because the keys depend on its content.
extension ImageResolver {
    /// The mark that a request asks for, if its record is in memory and may be used without contact to the origin.
    /// Never waits.
    func markAtHand(for request: ResolvedRequest) -> ResolvedMark? {
        guard let record = cache.storedRecord(request.access), !record.varies else { return nil }
        let evaluation = CacheEvaluation(
            stored: record.freshness, isSelected: true, policy: request.cache.policy, now: now())
        return evaluation.decision == .use ? ResolvedMark(request, record) : nil
    }

    /// The mark that a request asks for, from the caches or its origin.
    func mark(for request: ResolvedRequest) async throws(PipelineError) -> ResolvedMark {
        var request = request
        request.keepsOriginal = .ifAtHand
        let (response, record) = try await found(request)
        // The source's download may wait for bytes that the mark's would hold. What the caches have is found again.
        var original = response.original?.released
        if response.original?.isStored == true, !request.cache.store.originals.isEmpty { original = nil }
        return ResolvedMark(request, record, original: original, report: response.cache)
    }

    /// The bytes of a request's mark; nil if it has none.
    func originalOfMark(of request: ResolvedRequest) async throws(PipelineError) -> Original? {
        guard let mark = request.mark else { return nil }
        if let original = mark.original { return original }
        var again = mark.request
        // The work is shared: one request's deadline must not end it for the others.
        again.deadline = nil
        again.keepsOriginal = .always
        if let original = await cache.original(mark.record, for: again.access) { return original }
        // If the mark is another by now, the request starts over.
        let (response, record) = try await found(again)
        guard let original = response.original, record.content == mark.record.content else { throw .failed }
        return original
    }

    /// Whether the caches know other content of a mark by now.
    func hasChanged(_ mark: ResolvedMark) -> Bool {
        cache.storedRecord(mark.request.access).map { $0.content != mark.record.content } ?? false
    }

    private func found(_ request: ResolvedRequest) async throws(PipelineError) -> (ImageResponse, SourceRecord) {
        do throws(PipelineError) {
            let response = try await image(for: request)
            guard let record = response.record else { throw .failed }
            return (response, record)
        } catch {
            throw error.ofMark
        }
    }
}
