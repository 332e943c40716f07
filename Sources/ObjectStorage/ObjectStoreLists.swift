import DarkroomWaiting
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
