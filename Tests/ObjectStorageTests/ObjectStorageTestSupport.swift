import DarkroomTestOrigin
import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

@testable import DarkroomObjectStorage

/// A client of a stub that plays back raw bytes.
struct StubStore {
    let origin: TestOrigin
    let store: ObjectStore
    let sent: RequestLog

    /// Runs `body` with a stub that answers by the script.
    static func run(
        retries: RetryPolicy = RetryPolicy(firstPause: .zero), clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }, credentials: (any CredentialsProviding)? = nil,
        script: @escaping @Sendable (TestOrigin.Request) -> [TestOrigin.Step],
        testing body: (StubStore) async throws -> Void
    ) async throws {
        let origin = TestOrigin(script: script)
        try await origin.start()
        let sent = RequestLog()
        var settings = ObjectStoreSettings(
            endpoint: try ObjectStoreEndpoint(parsing: "http://127.0.0.1:\(origin.port)"), region: "us-east-1")
        settings.retries = retries
        let store = try ObjectStore(
            settings, credentials: credentials ?? StaticCredentials(.test),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, clock: clock, now: now, random: { 0.5 },
            onRequest: sent.append)
        let result: Result<Void, any Error>
        do { result = .success(try await body(StubStore(origin: origin, store: store, sent: sent))) } catch {
            result = .failure(error)
        }
        await store.shutdown()
        try await origin.stop()
        try result.get()
    }
}

/// The requests that a client says it sent.
final class RequestLog: Sendable {
    private let entries = Mutex<[ObjectStoreOperation]>([])
    var operations: [ObjectStoreOperation] { entries.withLock { $0 } }

    @Sendable func append(_ operation: ObjectStoreOperation) { entries.withLock { $0.append(operation) } }
}

extension Credentials {
    static let test = make("TESTKEY")

    static func make(_ accessKey: String, expiration: Date? = nil) -> Credentials {
        guard let credentials = try? Credentials(accessKey: accessKey, secretKey: "secret", expiration: expiration)
        else { preconditionFailure("the key is valid") }
        return credentials
    }
}

/// Credentials that never change.
struct StaticCredentials: CredentialsProviding {
    private let value: Credentials

    init(_ credentials: Credentials) { value = credentials }

    func credentials() async throws(CredentialsError) -> Credentials { value }

    func invalidate(_ credentials: Credentials) {}
}

extension ObjectName {
    /// An object in the bucket `media`.
    static func media(_ key: String) throws -> ObjectName {
        ObjectName(bucket: try BucketName("media"), key: try ObjectKey(key))
    }
}

/// What a store sends.
enum Reply {
    static func object(_ body: String, fields: [String] = []) -> [TestOrigin.Step] {
        [.respond("200 OK", fields: ["ETag: \"e\""] + fields, body: body)]
    }

    static func error(_ status: String, _ code: String, fields: [String] = []) -> [TestOrigin.Step] {
        let body = "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>secret words</Message></Error>"
        return [.respond(status, fields: ["Content-Type: application/xml"] + fields, body: body)]
    }

    static let page = "<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><p>Hello</body></html>"

    static func list(_ keys: [String], next: String? = nil) -> [TestOrigin.Step] {
        let contents = keys.map { "<Contents><Key>\($0)</Key><Size>1</Size></Contents>" }.joined()
        let token = next.map { "<NextContinuationToken>\($0)</NextContinuationToken>" } ?? ""
        let body =
            "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            + "<IsTruncated>\(next != nil)</IsTruncated>\(token)\(contents)</ListBucketResult>"
        return [.respond("200 OK", body: body)]
    }
}

extension HTTPFields {
    /// Fields written as `Name: value`.
    init(lines: [String]) {
        self.init()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else { continue }
            append(HTTPField(name: name, value: parts[1].trimmingCharacters(in: .whitespaces)))
        }
    }
}

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// An object in memory.
struct StoredObject {
    let attributes: ObjectAttributes
    let body: ByteBuffer
}

extension ObjectAttributes {
    /// The ETag with its quotes.
    var etag: String? { fields[.eTag] }
}

extension ObjectStore {
    /// Reads an object into memory. Also tried again if the connection ends within the body.
    func get(
        _ name: ObjectName, maxBytes: Int, within limit: Duration
    ) async throws(ObjectStorageError) -> StoredObject {
        let request = StoreRequest.get(name, ObjectRead(maxBytes: maxBytes))
        return try await executor.execute(request, within: limit, accepting: [200]) {
            answer, _ throws(AttemptFailure) in
            try answer.checkObject(maxBytes: maxBytes)
            do throws(TransportFailure) {
                guard let body = try await answer.collect(upTo: maxBytes) else {
                    throw TransportFailure(.tooLarge(limitBytes: maxBytes))
                }
                return StoredObject(attributes: ObjectAttributes(fields: answer.fields), body: body)
            } catch {
                throw AttemptFailure(error, mayRepeat: true)
            }
        }
    }

    /// Reads an object's attributes.
    func head(_ name: ObjectName, within limit: Duration) async throws(ObjectStorageError) -> ObjectAttributes {
        let request = StoreRequest(.head, .HEAD, bucket: name.bucket, key: name.key)
        return try await executor.execute(request, within: limit, accepting: [200]) {
            answer, _ throws(AttemptFailure) in
            try answer.checkObject(maxBytes: .max)
            try await answer.drain()
            return ObjectAttributes(fields: answer.fields)
        }
    }
}
