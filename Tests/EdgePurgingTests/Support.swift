import DarkroomHTTPCaching
import DarkroomTestClock
import DarkroomTestLogs
import DarkroomTestOrigin
import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Synchronization

@testable import DarkroomEdgePurging

extension EdgePurge {
    static func stub(
        _ tags: String..., id: String = "purge_1", soft: Bool = false, selector: Selector = Selector(.url, "https://a/")
    ) -> EdgePurge {
        EdgePurge(
            id: id, purgedAt: Date(timeIntervalSince1970: 784_111_777), selector, tags: tags, isSoft: soft)
    }
}

extension URL {
    /// A new file in a folder of its own.
    static func temporaryFile(_ name: String, _ text: String? = nil) throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("darkroom-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(name)
        if let text { try text.write(to: file, atomically: true, encoding: .utf8) }
        return file
    }
}

/// Edges that answer as a script says, without a network.
final class ScriptedTransport: EdgeTransport {
    typealias Script = @Sendable (EdgeRequest, _ index: Int) async throws(EdgeTransportFailure) -> EdgeAnswer

    private let sent = Mutex<[EdgeRequest]>([])
    private let script: Script
    /// Yields each request.
    let arrivals: AsyncStream<EdgeRequest>
    private let arrival: AsyncStream<EdgeRequest>.Continuation

    init(_ script: @escaping Script = { _, _ in EdgeAnswer(status: 200) }) {
        self.script = script
        (arrivals, arrival) = AsyncStream.makeStream()
    }

    var requests: [EdgeRequest] { sent.withLock(\.self) }

    func send(_ request: EdgeRequest) async throws(EdgeTransportFailure) -> EdgeAnswer {
        let index = sent.withLock { sent in
            sent.append(request)
            return sent.count - 1
        }
        arrival.yield(request)
        return try await script(request, index)
    }

    func shutdown() async {}
}

/// A purger whose edges, time and file the test controls.
struct PurgerBench {
    static let nginx = EdgeDestination(.nginx, url: "http://edge-a/generation")
    static let varnish = EdgeDestination(.varnish, url: "http://edge-b:6081/")

    let clock: TestClock
    /// Yields the end of each pause of a delivery, as the time of the clock. A purger that is woken pauses again until
    /// the same moment.
    let pauses: AsyncStream<Duration>
    let transport: ScriptedTransport
    let logs = LogRecorder()
    let purger: EdgePurger

    init(
        _ destinations: [EdgeDestination] = [Self.varnish], file: String? = nil, clock: TestClock = TestClock(),
        _ script: @escaping ScriptedTransport.Script = { _, _ in EdgeAnswer(status: 200) }
    ) {
        self.clock = clock
        let start = clock.date.addingTimeInterval(-(clock.elapsed / .seconds(1)))
        let (pauses, pause) = AsyncStream<Duration>.makeStream()
        self.pauses = pauses
        transport = ScriptedTransport(script)
        purger = EdgePurger(
            destinations, everything: "darkroom", file: file, transport: transport, clock: clock,
            now: { clock.date },
            sleep: { date in
                let end = Duration.milliseconds(Int((date.timeIntervalSince(start) * 1000).rounded()))
                pause.yield(end)
                let now = clock.now
                try await clock.sleep(until: now.advanced(by: end - now.offset), tolerance: nil)
            }, jitter: { 0 }, logger: logs.logger)
    }

    /// Runs the purger while the test goes on.
    func running(_ test: () async throws -> Void) async rethrows {
        let purger = purger
        let run = Task { await purger.run() }
        defer { run.cancel() }
        try await test()
    }

    /// Waits until a delivery pauses until this time of the clock.
    func pause(until end: Duration) async {
        for await next in pauses where next == end { return }
    }

    /// The value of the field with tags in the next request.
    func nextTags() async -> String? {
        for await request in transport.arrivals {
            return request.field("xkey-purge") ?? request.field("xkey-softpurge")
        }
        return nil
    }
}

extension EdgeRequest {
    func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}
