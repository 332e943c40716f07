import Crypto
import Foundation
import NIOCore
import NIOHTTP1

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
