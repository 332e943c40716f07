import AsyncHTTPClient
import DarkroomWaiting
package import Foundation
import HTTPTypes
package import NIOCore
import NIOHTTP1
import NIOSSL

/// A client of one S3-compatible store.
///
/// Every operation has a time limit of its own, since stores hang without an error. The limit includes credentials, all
/// attempts and the body. Canceling the task ends an operation at once.
package final class ObjectStore: Sendable {
    let executor: RequestExecutor

    /// - Parameters:
    ///   - eventLoopGroup: runs all connections. Not shut down by the client.
    ///   - clock: measures time limits and pauses.
    ///   - now: the time that requests are signed with.
    ///   - random: from 0 to 1, for pauses.
    ///   - addresses: addresses of hosts, in place of what DNS says.
    ///   - onRequest: called for each request sent, retries included.
    /// - Throws: ``ObjectStorageError/invalidRequest(_:)`` if the region is not usable.
    package init(
        _ settings: ObjectStoreSettings, credentials: any CredentialsProviding, eventLoopGroup: any EventLoopGroup,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) }, addresses: [String: String] = [:],
        onRequest: @escaping @Sendable (ObjectStoreOperation) -> Void = { _ in }
    ) throws(ObjectStorageError) {
        guard settings.region.isAmazonRegion else { throw .invalidRequest(.region) }
        let configuration = HTTPClient.Configuration(
            connectTimeout: settings.connectTimeout, maxConnections: settings.maxConnections,
            certificateAuthorities: settings.certificateAuthorities, addresses: addresses)
        executor = RequestExecutor(
            endpoint: settings.endpoint, region: settings.region, retries: settings.retries,
            transport: HTTPTransport(configuration, eventLoopGroup: eventLoopGroup), credentials: credentials,
            storeClock: StoreClock(now), timer: DeadlineTimer(clock: clock), clock: clock, random: random,
            onRequest: onRequest)
    }

    /// What to add to this machine's time to get the store's, in seconds: 0 until the dates of the store's answers show
    /// that this machine's clock is wrong.
    package var clockOffset: TimeInterval { executor.storeClock.correction }

    /// Ends all operations and connections. Later operations fail with ``ObjectStorageError/canceled``.
    package func shutdown() async {
        await executor.transport.shutdown()
    }

    /// Reads an object as it arrives.
    ///
    /// Nothing is tried again once something has been delivered.
    ///
    /// - Parameter deliver: receives the attributes and then the bytes. The next part is read once it returns; if it
    ///   throws, the operation fails with that error. Must respond to cancellation.
    package func get(
        _ name: ObjectName, _ read: ObjectRead, within limit: Duration,
        deliver: @escaping @Sendable (ObjectPart) async throws(ObjectStorageError) -> Void
    ) async throws(ObjectStorageError) -> ObjectReadResult {
        let statuses: Set = [200, read.isConditional ? 304 : 200]
        return try await executor.execute(.get(name, read), within: limit, accepting: statuses) {
            answer, _ throws(AttemptFailure) in
            let attributes = ObjectAttributes(fields: answer.fields)
            guard answer.status != 304 else {
                try await answer.drain()
                return .notModified(attributes)
            }
            try answer.checkObject(maxBytes: read.maxBytes)
            try await answer.deliver(attributes, maxBytes: read.maxBytes, to: deliver)
            return .delivered(attributes)
        }
    }

    /// Writes an object, all of it or nothing, and replaces an existing one.
    package func put(_ name: ObjectName, _ body: ByteBuffer, within limit: Duration) async throws(ObjectStorageError) {
        var request = StoreRequest(.put, .PUT, bucket: name.bucket, key: name.key, body: body)
        request.fields = [SignedField("content-type", "application/octet-stream")]
        try await executor.execute(request, within: limit, accepting: [200]) { answer, _ throws(AttemptFailure) in
            guard answer.isFromStore else { throw AttemptFailure(.notS3(status: answer.status)) }
            try await answer.drain()
        }
    }

    /// Deletes an object. Succeeds if there is none.
    package func delete(_ name: ObjectName, within limit: Duration) async throws(ObjectStorageError) {
        let request = StoreRequest(.delete, .DELETE, bucket: name.bucket, key: name.key)
        do throws(ObjectStorageError) {
            try await executor.execute(request, within: limit, accepting: [204]) { answer, _ throws(AttemptFailure) in
                try await answer.drain()
            }
        } catch {
            guard error == .notFound else { throw error }
        }
    }
}

/// How to reach a store.
package struct ObjectStoreSettings: Sendable {
    /// Where the store answers.
    package var endpoint: ObjectStoreEndpoint
    /// The region that requests are signed for. Ceph accepts any, MinIO by default `us-east-1`, R2 requires `auto`.
    package var region: String
    /// Roots to trust besides the system's.
    var certificateAuthorities: [NIOSSLCertificate] = []
    /// The largest number of connections to a host. Further requests wait. Default: 64.
    package var maxConnections = 64
    /// The time to connect, TLS included. Default: 3 s.
    package var connectTimeout = Duration.seconds(3)
    /// How often and when failed requests are sent again.
    package var retries = RetryPolicy()

    /// A store with default limits.
    package init(endpoint: ObjectStoreEndpoint, region: String) {
        self.endpoint = endpoint
        self.region = region
    }
}
