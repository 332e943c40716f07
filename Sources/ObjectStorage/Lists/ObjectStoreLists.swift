import DarkroomWaiting
import HTTPTypes
import NIOCore
import NIOHTTP1

extension ObjectStore {
    /// Lists objects whose keys begin with a prefix and follow another key.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of all keys, bytewise.
    ///   - startAfter: a key, which need not exist. By default, the listing starts at the beginning.
    ///   - maxObjects: the largest number of objects. Takes a request for each 1,000.
    package func list(
        _ bucket: BucketName, prefix: String = "", startAfter: ObjectKey? = nil, maxObjects: Int = ListPage.maxKeys,
        within limit: Duration
    ) async throws(ObjectStorageError) -> ObjectListing {
        let elapsed = executor.clock.stopwatch()
        var walk = ListWalk(prefix: prefix, startAfter: startAfter, limit: maxObjects)
        guard maxObjects > 0 else { return ObjectListing(objects: [], isTruncated: true) }
        while true {
            var request = StoreRequest(.list, .GET, bucket: bucket)
            request.parameters = walk.parameters
            let page: ListPage = try await executor.execute(
                request, within: limit - elapsed(), accepting: [200]
            ) { answer, _ throws(AttemptFailure) in
                let document = try await answer.document(upTo: ListPage.maxDocumentBytes)
                guard let page = ListPage(document) else { throw AttemptFailure(.notS3(status: answer.status)) }
                return page
            }
            if let listing = try walk.take(page) { return listing }
        }
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
