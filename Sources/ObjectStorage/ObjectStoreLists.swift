import Crypto
import DarkroomNetwork
import DarkroomWaiting
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

extension ObjectStore {
    /// Lists the keys that begin with a prefix and follow another key, in the order of the store. Nearly all stores
    /// order them by bytes.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of all keys, bytewise.
    ///   - startAfter: a key, which need not exist. By default, the listing starts at the beginning.
    ///   - maxObjects: the largest number of objects. Takes a request for each 1,000.
    package func list(
        _ bucket: BucketName, prefix: String = "", startAfter: ObjectKey? = nil, maxObjects: Int = ListPage.maxKeys,
        within limit: Duration
    ) async throws(ObjectStorageError) -> [ObjectKey] {
        let elapsed = executor.clock.stopwatch()
        var keys: [ObjectKey] = []
        /// All tokens so far: a listing with a page that leads back to an earlier page would never end.
        var tokens: Set<String> = []
        var token: String?
        while keys.count < maxObjects {
            var request = StoreRequest(.list, .GET, bucket: bucket)
            request.parameters = ListPage.parameters(
                prefix: prefix, startAfter: startAfter, maxKeys: maxObjects - keys.count, token: token)
            let page: ListPage = try await executor.execute(
                request, within: limit - elapsed(), accepting: [200]
            ) { answer, _ throws(AttemptFailure) in
                let document = try await answer.document(upTo: ListPage.maxDocumentBytes)
                guard let page = ListPage(document) else { throw AttemptFailure(.notS3(status: answer.status)) }
                return page
            }
            for key in page.keys where keys.count < maxObjects {
                guard key.description.utf8.starts(with: prefix.utf8) else { throw .notS3(status: 200) }
                // Some stores ignore where to start.
                if let startAfter, key <= startAfter { continue }
                keys.append(key)
            }
            token = page.token
            guard let token, keys.count < maxObjects else { break }
            guard tokens.insert(token).inserted else { throw .notS3(status: 200) }
        }
        return keys
    }

    /// Deletes objects, 1,000 with each request. Keys without an object count as deleted.
    ///
    /// - Returns: the objects that the store did not delete.
    /// - Throws: an error if a request failed as a whole. Objects of earlier requests are deleted then.
    package func delete(
        _ keys: [ObjectKey], in bucket: BucketName, within limit: Duration
    ) async throws(ObjectStorageError) -> [DeleteFailure] {
        let elapsed = executor.clock.stopwatch()
        let (batches, single) = DeleteBatch.divide(keys)
        var failures: [DeleteFailure] = []
        for batch in batches {
            failures += try await executor.execute(
                batch.request(bucket: bucket), within: limit - elapsed(), accepting: [200]
            ) { answer, _ throws(AttemptFailure) in
                let document = try await answer.document(upTo: DeleteBatch.maxDocumentBytes)
                guard let failures = batch.failures(document) else {
                    throw AttemptFailure(.notS3(status: answer.status))
                }
                return failures
            }
        }
        for key in single {
            try await delete(ObjectName(bucket: bucket, key: key), within: limit - elapsed())
        }
        return failures
    }
}

/// One page of a listing (`ListObjectsV2`).
struct ListPage: Equatable {
    /// The largest number of keys of a page.
    static let maxKeys = 1000
    /// The largest document in bytes: a page of the longest keys, all of them encoded, fits.
    static let maxDocumentBytes = 8 << 20

    var keys: [ObjectKey]
    /// Leads to the next page. Nil on the last page.
    var token: String?

    static func parameters(
        prefix: String, startAfter: ObjectKey?, maxKeys: Int, token: String?
    ) -> [(name: String, value: String)] {
        var parameters = [
            (name: "list-type", value: "2"), ("encoding-type", "url"), ("max-keys", "\(min(maxKeys, Self.maxKeys))"),
        ]
        if !prefix.isEmpty { parameters.append(("prefix", prefix)) }
        if let startAfter { parameters.append(("start-after", startAfter.description)) }
        if let token { parameters.append(("continuation-token", token)) }
        return parameters
    }

    /// Nil if the document is not a page.
    init?(_ document: ByteBuffer) {
        guard let root = try? XMLReader.root(of: Array(document.readableBytesView)), root.name == "ListBucketResult"
        else { return nil }
        let isEncoded = root.text(of: "EncodingType")?.lowercased() == "url"
        keys = []
        for element in root.children where element.name == "Contents" {
            // A key that is encoded as in a form may have characters that XML cannot contain.
            guard let text = element.text(of: "Key"), let name = isEncoded ? Self.decoded(text) : text,
                let key = try? ObjectKey(name), element.text(of: "Size").flatMap(Int.init(digits:)) != nil
            else { return nil }
            keys.append(key)
        }
        switch root.text(of: "IsTruncated") {
        case "true":
            guard let token = root.text(of: "NextContinuationToken"), (1...4096).contains(token.utf8.count) else {
                return nil
            }
            self.token = token
        case "false": token = nil
        default: return nil
        }
    }

    private static func decoded(_ text: String) -> String? {
        let spaced = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return PercentEncoding.decode(Substring(String(decoding: spaced, as: UTF8.self)).utf8)
    }
}

/// An object that a store did not delete.
package struct DeleteFailure: Hashable, Sendable {
    package let key: ObjectKey
    /// Why.
    package let error: ObjectStorageError
}

/// Up to 1,000 keys that one request deletes (`DeleteObjects`).
struct DeleteBatch {
    static let maxKeys = 1000
    /// The largest document of failures in bytes: all keys may fail, with messages.
    static let maxDocumentBytes = 8 << 20

    let keys: [ObjectKey]
    let document: String

    /// Divides keys into batches, and keys that XML cannot contain.
    static func divide(_ keys: [ObjectKey]) -> (batches: [DeleteBatch], single: [ObjectKey]) {
        let texts = keys.map { (key: $0, text: XMLText.escaped($0.description)) }
        let entries = texts.compactMap { key, text in text.map { (key: key, text: $0) } }
        let batches = stride(from: 0, to: entries.count, by: maxKeys).map {
            DeleteBatch(entries[$0...].prefix(maxKeys))
        }
        return (batches, texts.filter { $0.text == nil }.map(\.key))
    }

    private init(_ entries: ArraySlice<(key: ObjectKey, text: String)>) {
        keys = entries.map(\.key)
        let objects = entries.map { "<Object><Key>\($0.text)</Key></Object>" }.joined()
        document =
            #"<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>"# + objects + "</Delete>"
    }

    func request(bucket: BucketName) -> StoreRequest {
        let bytes = Array(document.utf8)
        var request = StoreRequest(.deleteBatch, .POST, bucket: bucket, body: ByteBuffer(bytes: bytes))
        request.parameters = [("delete", "")]
        // S3 requires a checksum here, although the signature covers the body's hash already.
        let checksum = Data(Insecure.MD5.hash(data: bytes)).base64EncodedString()
        request.fields = [SignedField("content-type", "application/xml"), SignedField("content-md5", checksum)]
        return request
    }

    /// The keys that the answer says are still there. Nil if the document is not such an answer.
    func failures(_ document: ByteBuffer) -> [DeleteFailure]? {
        guard let root = try? XMLReader.root(of: Array(document.readableBytesView)), root.name == "DeleteResult"
        else { return nil }
        let known = Set(keys)
        var failures: [DeleteFailure] = []
        for element in root.children where element.name == "Error" {
            guard let key = element.text(of: "Key").flatMap({ try? ObjectKey($0) }), known.contains(key) else {
                return nil
            }
            let code = element.text(of: "Code").flatMap(S3ErrorCode.init)
            switch code?.description {
            case "NoSuchKey": continue
            case "SlowDown": failures.append(DeleteFailure(key: key, error: .slowDown))
            case "InternalError", "ServiceUnavailable":
                failures.append(DeleteFailure(key: key, error: .unavailable(status: 200, code: code)))
            default: failures.append(DeleteFailure(key: key, error: .forbidden(code: code)))
            }
        }
        return failures
    }
}
