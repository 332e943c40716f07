import DarkroomWaiting
package import Logging
package import NIOCore
import Synchronization

/// Delivers queued spans to a collector in batches, one request at a time.
///
/// A batch is sent when it is full, or some seconds after its first span. If the collector is busy or cannot be
/// reached, the batch is tried again a few times while further spans wait in the queue, which drops spans beyond its
/// capacity: a collector that fails costs bounded memory and delays no request.
package struct SpanExporter: Sendable {
    /// The most spans in a request.
    static let maxBatch = 512
    /// How long a span waits for others.
    static let maxDelay = Duration.seconds(5)
    /// How often a batch is sent at most.
    static let maxAttempts = 5
    /// The longest pause before an attempt, even if the collector asks for a longer pause.
    static let maxPause = Duration.seconds(60)
    /// How long the queued spans are sent during shutdown.
    package static let shutdownGrace = Duration.seconds(5)

    private let queue: SpanQueue
    private let resource: TelemetryResource
    private let transport: any SpanTransport
    private let clock: any Clock<Duration>
    private let jitter: @Sendable () -> Double
    private let failures: FailureLog

    /// The clock measures delays and pauses. The jitter, 0..<1, is the position of each pause in its range.
    init(
        _ queue: SpanQueue, resource: TelemetryResource, transport: any SpanTransport,
        clock: any Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) }, logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.queue = queue
        self.resource = resource
        self.transport = transport
        self.clock = clock
        self.jitter = jitter
        failures = FailureLog(logger, now: now)
    }

    /// An exporter to a collector.
    ///
    /// - Parameters:
    ///   - endpoint: the collector's base URL, to which `/v1/traces` is added.
    ///   - fields: header fields for each request, such as credentials. They are not logged.
    ///   - eventLoopGroup: runs the connection. Not shut down by the exporter.
    package init(
        _ queue: SpanQueue, resource: TelemetryResource, endpoint: String, fields: [(name: String, value: String)],
        eventLoopGroup: any EventLoopGroup, logger: Logger
    ) {
        self.init(
            queue, resource: resource,
            transport: HTTPSpanTransport(endpoint: endpoint, fields: fields, eventLoopGroup: eventLoopGroup),
            logger: logger)
    }

    /// What became of spans so far.
    package var counts: SpanQueue.Counts { queue.counts }

    /// Delivers spans until ``stop()`` was called and the queue is empty, or the grace has passed after it, or the task
    /// is canceled.
    package func run() async {
        await race(deliverAll) {
            await queue.waitForClose()
            try? await clock.sleep(for: Self.shutdownGrace)
        }
        queue.record(exported: 0, dropped: queue.take(atMost: .max).count)
        await transport.shutdown()
    }

    /// Has ``run()`` deliver the remaining spans at once and return.
    package func stop() { queue.close() }

    private func deliverAll() async {
        while await isBatchReady() { await deliver(queue.take(atMost: Self.maxBatch)) }
    }

    private func isBatchReady() async -> Bool {
        await queue.wait(forCount: 1)
        await pause(Self.maxDelay, unlessQueued: Self.maxBatch)
        return queue.count > 0 && !Task.isCancelled
    }

    /// Waits for the time given, or less once the queue is closed or holds this many spans.
    private func pause(_ duration: Duration, unlessQueued count: Int = .max) async {
        guard !queue.isClosed else { return }
        await race {
            try? await clock.sleep(for: duration)
        } against: {
            await queue.wait(forCount: count)
        }
    }

    private func deliver(_ batch: [SpanRecord]) async {
        guard let body = try? ExportTraceServiceRequest(batch, of: resource).json else {
            return drop(batch.count, of: batch.count, because: "spans cannot be encoded")
        }
        var attempt = 1
        while true {
            // Spans that are sent during shutdown have this attempt alone.
            let isLast = attempt == Self.maxAttempts || queue.isClosed
            switch await transport.send(body) {
            case .accepted(let rejected, let reason):
                return drop(min(rejected, batch.count), of: batch.count, because: reason)
            case .refused(let reason): return drop(batch.count, of: batch.count, because: reason)
            case .postponed(let delay, let reason):
                guard !isLast, !Task.isCancelled else {
                    return drop(batch.count, of: batch.count, because: reason)
                }
                await pause(delay.map { min($0, Self.maxPause) } ?? backoff(after: attempt))
                attempt += 1
            }
        }
    }

    /// 1, 2, 4 … seconds, each shortened by up to half.
    private func backoff(after attempt: Int) -> Duration {
        min(.seconds(1 << (attempt - 1)), Self.maxPause) * (1 - jitter() / 2)
    }

    /// Counts a batch, with the number of spans that are dropped.
    private func drop(_ dropped: Int, of count: Int, because reason: String) {
        queue.record(exported: count - dropped, dropped: dropped)
        if dropped > 0 { failures.record(dropped, because: reason) }
    }
}

/// Logs spans that were not delivered, at most once a minute.
final class FailureLog: Sendable {
    private struct State {
        var lastLoggedAt: ContinuousClock.Instant?
        /// Spans that no line has reported.
        var unreported = 0
    }

    private static let interval = Duration.seconds(60)

    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    init(_ logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.logger = logger
        self.now = now
    }

    /// - Parameter reason: must not contain header fields that were sent.
    func record(_ count: Int, because reason: String) {
        let now = now()
        let reported = state.withLock { state -> Int? in
            state.unreported += count
            if let last = state.lastLoggedAt, last.duration(to: now) < Self.interval { return nil }
            state.lastLoggedAt = now
            defer { state.unreported = 0 }
            return state.unreported
        }
        guard let reported else { return }
        logger.warning("trace spans were not delivered", metadata: ["spans": "\(reported)", "reason": "\(reason)"])
    }
}
