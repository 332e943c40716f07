package import DarkroomCache
import DarkroomHTTPCaching
import DarkroomNetwork
package import DarkroomRequests
import DarkroomStore

/// The tags by which caches in front of this server purge a response, each once; see ``EdgeTag``.
package struct EdgeTags: Hashable, Sendable {
    /// The tags, the server's own first, so that a cache's limits leave out others.
    package var kept: [String]
    /// Tags that the origins sent beyond the limits of ``StoredResponse/tags``.
    package var leftOut: [String]

    package init(kept: [String] = [], leftOut: [String] = []) {
        (self.kept, self.leftOut) = (kept, leftOut)
    }
}

extension ImagePipeline {
    /// The tags of a response: the tags of its source, of the images that it shows and of the sources that failed; the
    /// tags of their hosts; the tag of everything; and the tags that their origins sent. Empty for an upload, which no
    /// cache stores.
    package func edgeTags(of response: ImageResponse) -> EdgeTags {
        guard !response.cache.isUpload else { return EdgeTags() }
        let records = [response.record].compactMap(\.self) + response.partRecords
        let sources = records.compactMap { try? SourceURL(parsing: $0.url) }
        return edgeTags(of: sources + response.failedSources, records)
    }

    /// The tags of a request's failure, which caches in front may store in spite of `no-store`.
    package func edgeTags(of request: ImageRequest) -> EdgeTags {
        request.data == nil ? edgeTags(of: [request.source] + request.parts.flatMap(\.sources), []) : EdgeTags()
    }

    /// The tags to purge in caches in front. Their purge may remove more than the purge here.
    package func edgeTags(of target: PurgeTarget) -> [String] {
        EdgeTag.tags(of: target, key: resolver.cache.source(of:))
    }

    func edgeTags(of sources: [SourceURL], _ records: [SourceRecord]) -> EdgeTags {
        let keys = sources.map { resolver.cache.source(of: $0) }
        var tags = keys.map(EdgeTag.source) + sources.map { EdgeTag.host($0.hostName) }
        tags.append(EdgeTag.everything)
        for record in records { tags += record.response.tags }
        var seen: Set<String> = []
        let kept = tags.filter { seen.insert($0).inserted }
        let leftOut = records.flatMap(\.response.tagsLeftOut).filter { seen.insert($0).inserted }
        return EdgeTags(kept: kept, leftOut: leftOut)
    }
}
