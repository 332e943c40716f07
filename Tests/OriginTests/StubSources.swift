import DarkroomTestLogs
import DarkroomTestOrigin
import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import DarkroomMachine
@testable import DarkroomNetwork
@testable import DarkroomObjectStorage
@testable import DarkroomOrigin

/// A stub of an object store, and sources in it: `media` allows all keys, `shop` only `products/` and `sale/`.
struct StubSources {
    let store: TestOrigin
    let sources: ObjectSources
    let client: GuardedHTTPClient
    let log: LogRecorder

    static func run(
        _ change: (inout GuardedHTTPClient.Settings) -> Void = { _ in }, clock: any Clock<Duration> = ContinuousClock(),
        circuits: CircuitBreakerTable = .forTests(),
        script: @escaping @Sendable (TestOrigin.Request) -> [TestOrigin.Step],
        testing body: (StubSources) async throws -> Void
    ) async throws {
        let origin = TestOrigin(script: script)
        try await origin.start()
        let group = MultiThreadedEventLoopGroup.singleton
        var limits = GuardedHTTPClient.Settings()
        change(&limits)
        let log = LogRecorder(level: .info)
        let client = GuardedHTTPClient(
            settings: limits, nameLookup: ScriptedNameLookup(), eventLoopGroup: group, clock: clock, jitter: { .zero },
            circuits: circuits, logger: .silent)
        let store = try ObjectStore(
            ObjectStoreSettings(
                endpoint: try ObjectStoreEndpoint(parsing: "http://127.0.0.1:\(origin.port)"), region: "us-east-1"),
            credentials: RenewingCredentials(
                environment: ["AWS_ACCESS_KEY_ID": "TESTKEY", "AWS_SECRET_ACCESS_KEY": "secret"], eventLoopGroup: group),
            eventLoopGroup: group, random: { 0 })
        let bucket = try BucketName("private-bucket")
        let sources = ObjectSources(
            [
                ObjectSource(name: "media", storeName: "default", store: store, bucket: bucket, prefixes: [""]),
                ObjectSource(
                    name: "shop", storeName: "default", store: store, bucket: bucket, prefixes: ["products/", "sale/"]),
            ],
            sharingLimitsOf: client, maxSourceBytes: limits.maxSourceBytes, eventLoopGroup: group, logger: log.logger)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body(StubSources(store: origin, sources: sources, client: client, log: log)))
        } catch {
            result = .failure(error)
        }
        await store.shutdown()
        await client.shutdown()
        try await origin.stop()
        try result.get()
    }
}

extension SourceURL {
    static func object(_ text: String = "s3://media/a.jpg") -> SourceURL {
        guard let url = try? SourceURL(parsing: text) else { preconditionFailure("the URL is valid") }
        return url
    }
}

extension StubSources {
    static let object = TestOrigin.Step.respond(fields: [
        "ETag: \"e\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Cache-Control: max-age=60",
        "Content-Type: image/jpeg", "x-amz-request-id: 1", "Server: Ceph", "Vary: Origin",
    ])

    /// The error of reading one object.
    static func failure(
        of text: String = "s3://media/a.jpg", maxSourceBytes: Int = 50 << 20,
        downloadTimeout: Duration = .seconds(15),
        _ script: @escaping @Sendable (TestOrigin.Request) -> [TestOrigin.Step]
    ) async throws -> (error: OriginError?, requests: Int, log: [String]) {
        var result: (OriginError?, Int, [String]) = (nil, 0, [])
        let change: (inout GuardedHTTPClient.Settings) -> Void = {
            ($0.maxSourceBytes, $0.downloadTimeout) = (maxSourceBytes, downloadTimeout)
        }
        try await run(change, script: script) { stub in
            let error = await stub.sources.failure(of: .object(text))
            result = (error?.bare, stub.store.requests.count, stub.log.events.map(\.message))
        }
        return result
    }
}
