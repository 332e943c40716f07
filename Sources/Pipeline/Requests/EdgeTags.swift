package import DarkroomCache
import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomStore

// The tags by which caches in front of this server purge its responses; see ``EdgeTag``.
extension ImagePipeline {
    /// The tags of a response: the tags of its source, of its mark and of the source whose fallback it is, the tags of
    /// their hosts, the tag of everything, and the tags that their origins sent. Empty for an upload, which no cache
    /// stores.
    package func edgeTags(of response: ImageResponse) -> [String] {
        guard !response.cache.isUpload else { return [] }
        let records = [response.record, response.markRecord].compactMap(\.self)
        let sources = records.compactMap { try? SourceURL(parsing: $0.url) }
        return edgeTags(of: sources + [response.failedSource].compactMap(\.self), records)
    }

    /// The tags of a request's failure, which caches in front may store in spite of `no-store`.
    package func edgeTags(of request: ImageRequest) -> [String] {
        request.data == nil ? edgeTags(of: [request.source, request.mark].compactMap(\.self), []) : []
    }

    /// The tags to purge in caches in front. Their purge may remove more than the purge here.
    package func edgeTags(of target: PurgeTarget) -> [String] { EdgeTag.tags(of: target, key: sourceKey) }

    /// Each tag once. The server's own come first, so that limits leave out others.
    func edgeTags(of sources: [SourceURL], _ records: [SourceRecord]) -> [String] {
        var tags = sources.map { EdgeTag.source(sourceKey($0)) } + sources.map { EdgeTag.host($0.hostName) }
        tags.append(EdgeTag.everything)
        for record in records { tags += record.response.tags }
        var seen: Set<String> = []
        return tags.filter { seen.insert($0).inserted }
    }

    private func sourceKey(_ source: SourceURL) -> StoreKey { RequestKeys.source(keyFilter.identity(of: source)) }
}
