import DarkroomCache
import DarkroomEdgePurging
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomStore
import DarkroomWeb
import Foundation
import Logging
import NIOPosix

/// Sends the purges of this server to the caches in front of it that the settings name.
struct EdgePurges: Sendable {
    let purger: EdgePurger
    private let isShared: Bool
    private let answerTime: Duration

    /// The longest time that a sent answer is in flight before a cache stores it.
    private static let transferTime = Duration.seconds(2)
    /// The file in the cache directory that keeps purges over a restart.
    private static let fileName = "edge-purges.json"

    /// - Parameters:
    ///   - disk: nil = the cache directory is not this server's.
    ///   - shared: nil = no other server answers with purged images for a while.
    init(_ settings: Settings, _ disk: DiskStore?, _ shared: SharedBackend?, logger: Logger) {
        purger = EdgePurger(
            settings.edges.purgeTo, everything: EdgeTag.everything,
            file: disk != nil ? "\(settings.cache.directory)/\(Self.fileName)" : nil,
            userAgent: "darkroom/\(Darkroom.release)", eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger)
        isShared = shared != nil
        answerTime = settings.limits.requestTimeout
    }

    /// - Parameter serverState: shows whether responses are in progress that a cache in front may store after the
    ///   purge.
    func telling(_ pipeline: ImagePipeline, _ serverState: ServerState) -> EdgeTelling {
        { [purger, isShared, answerTime] notice in
            let purge = EdgePurge(
                purgedAt: Date(), notice.target.selector, tags: pipeline.edgeTags(of: notice.target),
                isSoft: notice.isSoft)
            // The purge itself is one of the requests. Requests at other servers are unknown.
            let mayBeMaking = isShared || serverState.inFlightRequests > 1
            let ticket = await purger.tell(
                purge, after: notice.propagation,
                again: (mayBeMaking ? answerTime : .zero) + Self.transferTime)
            let states = notice.waits ? await purger.wait(for: ticket) : purger.states(of: ticket)
            return states.map {
                EdgeProgress(
                    edge: $0.edge, state: $0.progress == .told ? .told : .pending, reason: $0.reason)
            }
        }
    }
}

extension PurgeTarget {
    fileprivate var selector: EdgePurge.Selector {
        switch self {
        case .source(let url): EdgePurge.Selector(.url, url.canonical)
        case .prefix(let prefix): EdgePurge.Selector(.prefix, prefix)
        case .host(let host): EdgePurge.Selector(.host, host)
        case .tag(let tag): EdgePurge.Selector(.tag, tag)
        case .everything: EdgePurge.Selector(.everything)
        }
    }
}
