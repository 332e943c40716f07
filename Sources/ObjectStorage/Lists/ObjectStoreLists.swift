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

/// The way through the pages of a listing, which ends even if the store's pages do not.
struct ListWalk {
    private let prefix: String
    private let startAfter: ObjectKey?
    private let limit: Int
    private var objects: [ListedObject] = []
    /// All tokens so far: a listing with a page that leads back to an earlier page would never end.
    private var tokens: Set<String> = []
    private var token: String?

    init(prefix: String, startAfter: ObjectKey?, limit: Int) {
        self.prefix = prefix
        self.startAfter = startAfter
        self.limit = limit
    }

    /// The parameters of the request for the next page.
    var parameters: [(name: String, value: String)] {
        ListPage.parameters(
            prefix: prefix, startAfter: startAfter, maxKeys: limit - objects.count, token: token)
    }

    /// Takes a page.
    ///
    /// - Returns: the listing if it is complete.
    mutating func take(_ page: ListPage) throws(ObjectStorageError) -> ObjectListing? {
        for object in page.objects {
            guard object.key.description.utf8.starts(with: prefix.utf8) else { throw .notS3(status: 200) }
            // Some stores ignore where to start.
            if let startAfter, object.key <= startAfter { continue }
            guard objects.count < limit else { return ObjectListing(objects: objects, isTruncated: true) }
            objects.append(object)
        }
        token = page.token
        guard let token = page.token else { return ObjectListing(objects: objects, isTruncated: false) }
        guard objects.count < limit else { return ObjectListing(objects: objects, isTruncated: true) }
        guard tokens.insert(token).inserted else { throw .notS3(status: 200) }
        return nil
    }
}
