import DarkroomHTTPCaching
import DarkroomPipeline
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A job's progress as a stream of server-sent events (WHATWG HTML §9.2): `progress` at once and after changes, `end` last.
///
/// Nothing is queued: each event is made when the one before has been taken, so a slow reader misses what has become old. The
/// stream ends with its job, and all jobs end with the server.
struct PrefetchEvents: Sendable {
    let job: PrefetchJob
    /// Runs the heartbeat.
    let clock: any Clock<Duration>

    /// How long the stream may be silent: proxies give up on those that are for much longer.
    static let heartbeat = Duration.seconds(15)

    private enum Moment {
        case changed(PrefetchProgress, revision: Int)
        case silent
    }

    var response: Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream", .cacheControl: CacheControl.noStore.description,
                .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody { writer in
                try await write(to: &writer)
                try await writer.finish(nil)
            })
    }

    private func write(to writer: inout any ResponseBodyWriter) async throws {
        var seen: Int?
        while let moment = await next(after: seen) {
            switch moment {
            case .silent: try await writer.write(ByteBuffer(string: ": still here\n\n"))
            case .changed(let progress, let revision):
                seen = revision
                let document = PrefetchDocument(job, progress)
                let isLast = progress.state != .running
                try await writer.write(events(isLast ? ["progress", "end"] : ["progress"], with: document))
                if isLast { return }
            }
        }
        // The reader is gone: what was sent is no complete answer.
        throw CancellationError()
    }

    /// Nil when the task is cancelled, since the client is gone.
    private func next(after revision: Int?) async -> Moment? {
        await withTaskGroup(of: Moment?.self) { group in
            group.addTask { [job] in
                await job.progress(after: revision).map { .changed($0.progress, revision: $0.revision) }
            }
            group.addTask { [clock] in
                (try? await clock.sleep(for: Self.heartbeat)) == nil ? nil : .silent
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    private func events(_ names: [String], with document: PrefetchDocument) -> ByteBuffer {
        // One line: JSON without white space has no line breaks but in strings, where they are escaped.
        let data = ByteBuffer.json(document)
        var events = ByteBuffer()
        for name in names {
            events.writeString("event: \(name)\ndata: ")
            events.writeImmutableBuffer(data)
            events.writeString("\n\n")
        }
        return events
    }
}
