import DarkroomNetwork
package import DarkroomObjectStorage

/// A bucket whose objects are sources: the bucket of `s3://name/key`.
package struct ObjectSource: Sendable {
    /// The name in URLs, in lower case.
    package let name: String
    /// Identifies the store, for circuit breakers and logs.
    package let storeName: String
    package let store: ObjectStore
    package let bucket: BucketName
    /// The prefixes that keys may have. The empty one allows all keys.
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
