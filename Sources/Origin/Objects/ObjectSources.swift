import DarkroomHTTPCaching
import DarkroomMachine
package import DarkroomNetwork
package import DarkroomObjectStorage
import DarkroomWaiting
import Foundation
package import HTTPTypes
package import Logging
package import NIOCore
import Synchronization

/// Reads `s3://name/key` from the buckets of object stores.
///
/// Only configured buckets and prefixes are read, at the stores' configured endpoints; redirects are not followed.
/// Downloads share all limits of a ``GuardedHTTPClient``: `downloadsPerHost` counts for each bucket, and each store has
/// one circuit breaker. Request fields of callers are not sent.
package struct ObjectSources: OriginFetching {
    private let sources: [String: ObjectSource]
    private let limits: DownloadLimits
    private let maxSourceBytes: Int
    private let eventLoopGroup: any EventLoopGroup
    private let faults: FaultLog

    /// - Parameters:
    ///   - maxSourceBytes: the largest object that is read.
    ///   - eventLoopGroup: runs waits for the byte budget.
    package init(
        _ sources: [ObjectSource], sharingLimitsOf client: GuardedHTTPClient, maxSourceBytes: Int = 50 << 20,
        eventLoopGroup: any EventLoopGroup, logger: Logger = Logger(label: "darkroom.origin")
    ) {
        self.sources = Dictionary(sources.map { ($0.name, $0) }) { first, _ in first }
        limits = client.limits
        self.maxSourceBytes = min(maxSourceBytes, SharedBytesWriter.maxBytes)
        self.eventLoopGroup = eventLoopGroup
        faults = FaultLog(logger: logger)
    }

    /// Reads the object of an `s3` URL.
    ///
    /// - Returns: the object with the fields of the store that matter to caching, or 304 if the request's validators
    ///   match.
    package func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        let (source, object) = try allowed(request.url)
        return try await limits.withDeadline { progress throws(OriginError) in
            try await limits.withSlot(
                of: source.peer, host: "\(source.peer.host)/\(source.bucket)", for: request, progress: progress
            ) { () async throws(OriginError) in
                try await read(object, of: source, for: request, progress: progress)
            }
        }
    }

    package func sentFields(for request: OriginRequest) -> HTTPFields { [:] }

    package func refusal(of source: SourceURL) -> OriginError? {
        do throws(OriginError) {
            _ = try allowed(source)
            return nil
        } catch {
            return error
        }
    }

    package func clearOutages(ofHost host: String?) {
        for source in sources.values where host == nil || host == source.name {
            limits.circuits.clear(host: source.peer.host)
        }
    }

    package func startWaiting() { limits.startWaiting() }

    private func allowed(_ url: SourceURL) throws(OriginError) -> (ObjectSource, ObjectName) {
        guard url.scheme == .s3 else { throw .invalidURL(.unsupportedScheme(url.scheme.rawValue)) }
        guard let source = sources[url.host?.description ?? ""], let object = source.object(url) else {
            throw .notAllowed(.object)
        }
        return (source, object)
    }

    private func read(
        _ object: ObjectName, of source: ObjectSource, for request: OriginRequest, progress: DownloadProgress
    ) async throws(OriginError) -> OriginResponse {
        var read = ObjectRead(maxBytes: maxSourceBytes)
        read.ifNoneMatch = request.conditions[.ifNoneMatch]
        read.ifModifiedSince = request.conditions[.ifModifiedSince]
        let collector = ObjectCollector(
            maxSourceBytes: maxSourceBytes, reservation: limits.budget.makeReservation(for: request.client),
            phases: progress, eventLoop: eventLoopGroup.next(), onProgress: request.onProgress)
        let requestedAt = Date()
        progress.enter(.response)
        let result = await Result { [read] () async throws(ObjectStorageError) in
            try await progress.deadline.run { () async throws(ObjectStorageError) in
                try await source.store.get(object, read, within: Self.noLimit, deliver: collector.receive)
            }
        }
        switch result {
        case .success(.notModified(let attributes)):
            faults.recordSuccess(of: source)
            return OriginResponse(
                url: request.url, status: .notModified, headers: attributes.cachingFields,
                content: SharedBytes(ByteBuffer()), requestedAt: requestedAt, receivedAt: Date())
        case .success(.delivered(let attributes)):
            faults.recordSuccess(of: source)
            return try collector.response(
                from: request.url, headers: attributes.cachingFields, requestedAt: requestedAt)
        case .failure(let error):
            if let refusal = collector.refusal { throw refusal }
            faults.record(error, of: source)
            throw OriginError(error, requestedAt: requestedAt)
        }
    }

    /// The deadline of the download ends an operation earlier.
    private static let noLimit = Duration.seconds(86_400)
}

extension ObjectAttributes {
    /// The fields that a cache uses. The answer is the same for all requests, so `Vary` does not apply.
    fileprivate var cachingFields: HTTPFields {
        fields.filter { StoredResponse.storedFieldNames.contains($0.name) && $0.name != .vary }
    }
}

/// Logs each fault in the configuration of a source once, until the fault changes or ends.
private final class FaultLog: Sendable {
    private let faults = Mutex<[String: String]>([:])
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    func record(_ error: ObjectStorageError, of source: ObjectSource) {
        let text = error.description
        guard error.isAboutConfiguration, faults.withLock({ $0.updateValue(text, forKey: source.name) }) != text
        else { return }
        logger.error(
            "objects cannot be read",
            metadata: [
                "source": "s3://\(source.name)", "store": "\(source.storeName)", "bucket": "\(source.bucket)",
                "reason": "\(text)",
            ])
    }

    func recordSuccess(of source: ObjectSource) {
        guard faults.withLock({ $0.removeValue(forKey: source.name) }) != nil else { return }
        logger.notice("objects can be read again", metadata: ["source": "s3://\(source.name)"])
    }
}

/// A bucket whose objects are sources: the bucket of `s3://name/key`.
package struct ObjectSource: Sendable {
    /// The name in URLs, in lower case.
    package let name: String
    /// Identifies the store, for circuit breakers and logs.
    package let storeName: String
    package let store: ObjectStore
    package let bucket: BucketName
    /// The prefixes that keys may have. The empty prefix allows all keys.
    package let prefixes: [String]

    package init(name: String, storeName: String, store: ObjectStore, bucket: BucketName, prefixes: [String]) {
        self.name = name
        self.storeName = storeName
        self.store = store
        self.bucket = bucket
        self.prefixes = prefixes
    }

    /// The object of a URL of this source, or nil if its key has none of the prefixes. Compares bytes, as stores
    /// do.
    func object(_ url: SourceURL) -> ObjectName? {
        guard let text = url.objectKey, let key = try? ObjectKey(text),
            prefixes.contains(where: { text.utf8.starts(with: $0.utf8) })
        else { return nil }
        return ObjectName(bucket: bucket, key: key)
    }

    /// The peer of the store's circuit breaker. No host has such a name, so sources of web servers never affect it.
    var peer: CircuitBreakerTable.Peer { CircuitBreakerTable.Peer(host: "s3:\(storeName)", port: 0) }
}
