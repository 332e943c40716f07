import DarkroomHTTPServer
import DarkroomLoading
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The progress of a job as server-sent events (WHATWG HTML §9.2): `progress` at once and after each change, `end`
/// last.
///
/// Events are not queued: each is created after the previous event was sent, so a slow reader skips outdated progress.
/// The stream ends with its job, and all jobs end with the server.
struct PrefetchEvents: Sendable {
    let job: PrefetchJob
    /// Times the heartbeat.
    var clock: any Clock<Duration> = ContinuousClock()

    /// The maximum silence of the stream: proxies close streams that are idle for much longer.
    static let heartbeat = Duration.seconds(15)

    private enum Event {
        case changed(PrefetchProgress, revision: Int)
        case heartbeat
    }

    var response: Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .xContentTypeOptions: "nosniff"],
            body: ResponseBody { writer in
                try await write(to: &writer)
                try await writer.finish(nil)
            })
    }

    private func write(to writer: inout any ResponseBodyWriter) async throws {
        var seen: Int?
        while let event = await next(after: seen) {
            switch event {
            case .heartbeat: try await writer.write(ByteBuffer(string: ": still here\n\n"))
            case .changed(let progress, let revision):
                seen = revision
                let document = PrefetchDocument(job, progress)
                let isLast = progress.state != .running
                try await writer.write(events(isLast ? ["progress", "end"] : ["progress"], with: document))
                if isLast { return }
            }
        }
        // The client disconnected, so the response is incomplete.
        throw CancellationError()
    }

    /// Nil when the task is canceled because the client disconnected.
    private func next(after revision: Int?) async -> Event? {
        await withTaskGroup(of: Event?.self) { group in
            group.addTask { [job] in
                await job.progress(after: revision).map { .changed($0.progress, revision: $0.revision) }
            }
            group.addTask { [clock] in
                (try? await clock.sleep(for: Self.heartbeat)) == nil ? nil : .heartbeat
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    private func events(_ names: [String], with document: PrefetchDocument) -> ByteBuffer {
        // `data` must be one line. Compact JSON has line breaks only in strings, where they are escaped.
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
