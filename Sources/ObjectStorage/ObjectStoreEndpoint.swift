package import DarkroomNetwork

/// The URL at which a store answers, and how requests name the bucket.
package struct ObjectStoreEndpoint: Hashable, Sendable {
    /// Where requests name the bucket.
    package enum Addressing: Hashable, Sendable {
        /// In the path: `https://store.example/bucket/key`.
        case path
        /// In the host: `https://bucket.store.example/key`. Needs a wildcard DNS entry and certificate.
        case virtualHost
    }

    /// The scheme, host and port.
    package let url: SourceURL
    /// Where requests name the bucket.
    package let addressing: Addressing

    /// A store's own endpoint.
    ///
    /// - Parameter text: an `http:` or `https:` URL without path and query, such as `http://127.0.0.1:9000`.
    /// - Throws: ``ObjectStorageError/invalidRequest(_:)``.
    package init(parsing text: String, addressing: Addressing = .path) throws(ObjectStorageError) {
        guard let url = try? SourceURL(parsing: text), url.scheme.isWeb, url.path == "/", url.query == nil,
            !text.utf8.contains(UInt8(ascii: "@")), !text.utf8.contains(UInt8(ascii: "#"))
        else { throw .invalidRequest(.endpoint) }
        self.url = url
        self.addressing = addressing
    }

    /// The endpoint of Amazon S3 in a region, which names buckets in the host.
    ///
    /// - Throws: ``ObjectStorageError/invalidRequest(_:)`` if the region is not a plain name.
    package init(amazonRegion region: String) throws(ObjectStorageError) {
        guard region.isAmazonRegion else { throw .invalidRequest(.endpoint) }
        let suffix = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        try self.init(parsing: "https://s3.\(region).\(suffix)", addressing: .virtualHost)
    }

    /// Checks that the store can be asked for a bucket.
    ///
    /// - Throws: ``ObjectStorageError/invalidRequest(_:)`` if the bucket cannot be part of a host name but has to.
    package func check(_ bucket: BucketName) throws(ObjectStorageError) {
        _ = try target(bucket: bucket, key: nil)
    }

    struct Target: Equatable {
        /// Scheme, host and port.
        var origin: String
        /// Host and, unless it is the scheme's default, port: the `Host` field.
        var authority: String
        /// The percent-encoded path.
        var path: String
    }

    /// - Throws: ``ObjectStorageError/invalidRequest(_:)`` if the bucket cannot be part of a host name but has to.
    func target(bucket: BucketName, key: ObjectKey?) throws(ObjectStorageError) -> Target {
        let keyPath = key?.percentEncoded ?? ""
        let authority = String(url.origin.dropFirst(url.scheme.rawValue.utf8.count + 3))
        switch addressing {
        case .path:
            let path = key == nil ? "/\(bucket)" : "/\(bucket)/\(keyPath)"
            return Target(origin: url.origin, authority: authority, path: path)
        case .virtualHost:
            guard bucket.isHostName, case .name? = url.host else { throw .invalidRequest(.bucket) }
            let host = "\(bucket).\(authority)"
            return Target(origin: "\(url.scheme.rawValue)://\(host)", authority: host, path: "/\(keyPath)")
        }
    }
}

extension String {
    /// Whether the text has the form of a region: it becomes part of host names.
    var isAmazonRegion: Bool {
        !isEmpty && utf8.count <= 64 && utf8.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || $0 == 0x2d }
    }
}
