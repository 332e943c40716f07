import DarkroomPipeline
import DarkroomQuery
import Hummingbird

/// What a purge did, as it is sent.
struct PurgeDocument: Codable, Hashable {
    /// One source and what is cached of it.
    struct Source: Codable, Hashable {
        /// Nil where nothing is left that would say it.
        var url: String?
        var entries: Int
        var bytes: Int
    }

    var sources: Int
    var entries: Int
    var bytes: Int
    var isDryRun: Bool
    var isSoft: Bool
    /// The sources, where nothing was done but to list them.
    var list: [Source]?

    private enum CodingKeys: String, CodingKey {
        case sources, entries, bytes
        case isDryRun = "dry_run"
        case isSoft = "soft"
        case list
    }

    init(_ report: PurgeReport, of query: PurgeQuery) {
        sources = report.sourceCount
        entries = report.entries
        bytes = report.bytes
        isDryRun = query.isDryRun
        isSoft = query.isSoft
        guard query.isDryRun else { return }
        list = report.sources.prefix(Self.maxListed).map {
            Source(url: $0.url.isEmpty ? nil : $0.url, entries: $0.entries, bytes: $0.bytes)
        }
    }

    /// Longer lists are cut; the counts are those of all.
    static let maxListed = 1000

    /// The answer that carries the document.
    var response: Response { .json(self) }
}
