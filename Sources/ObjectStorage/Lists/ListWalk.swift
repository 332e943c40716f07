/// The way through the pages of a listing, which ends even if the store's pages do not.
struct ListWalk {
    private let prefix: String
    private let startAfter: ObjectKey?
    private let limit: Int
    private var objects: [ListedObject] = []
    /// All tokens so far: a page that leads back to an earlier one never ends.
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
