import DarkroomHTTPServer
import DarkroomLoading
import Foundation

/// A prefetch job as JSON.
struct PrefetchDocument: Codable, Hashable {
    /// An image that failed, with the problem that `/image` would report.
    struct Failure: Codable, Hashable {
        var url: String
        var query: String
        var type: String
        var detail: String
    }

    var id: String
    var state: String
    var total: Int
    var done: Int
    var failed: Int
    var bytes: Int
    /// Omitted before the first image is finished, and after the job has ended.
    var etaSeconds: Int?
    /// RFC 3339, in UTC.
    var created: String
    var failures: [Failure]

    /// - Parameter progress: nil = as it is now.
    init(_ job: PrefetchJob, _ progress: PrefetchProgress? = nil) {
        let progress = progress ?? job.progress
        id = job.id.uuidString.lowercased()
        state = progress.state.rawValue
        total = progress.total
        done = progress.done
        failed = progress.failed
        bytes = progress.bytes
        etaSeconds = progress.remaining.map { Int(($0 / .seconds(1)).rounded(.up)) }
        created = job.createdAt.formatted(.iso8601)
        failures = progress.failures.map { failure in
            let problem = Problem(failure.error)
            return Failure(
                url: failure.url, query: failure.label, type: problem.kind.type, detail: problem.detail)
        }
    }
}

/// All known jobs as JSON.
struct PrefetchList: Codable, Hashable {
    var jobs: [PrefetchDocument]
}
