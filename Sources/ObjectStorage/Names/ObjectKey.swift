import DarkroomNetwork

/// The key of an object: 1 to 1,024 bytes of UTF-8 without NUL. Any other text is a key, such as `..`, `a//b` and
/// `%2F`.
///
/// Keys are equal if their bytes are, and ordered as stores list them: by bytes. `String` would also consider composed
/// and decomposed characters equal, which stores do not.
package struct ObjectKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The largest size of a key in bytes.
    package static let maxBytes = 1024

    /// The key as text.
    package let description: String

    /// - Throws: ``ObjectStorageError/invalidRequest(_:)``.
    package init(_ text: String) throws(ObjectStorageError) {
        guard (1...Self.maxBytes).contains(text.utf8.count), !text.utf8.contains(0) else {
            throw .invalidRequest(.key)
        }
        description = text
    }

    /// The key in a URL: every byte but unreserved ones and `/` is encoded. Signature Version 4 requires this form.
    var percentEncoded: String { PercentEncoding.encode(description, allowing: .objectKey) }

    package static func == (left: ObjectKey, right: ObjectKey) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }

    package static func < (left: ObjectKey, right: ObjectKey) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }
}

/// An object's place in a store.
package struct ObjectName: Hashable, Sendable {
    /// The bucket.
    package let bucket: BucketName
    /// The key in the bucket.
    package let key: ObjectKey

    /// An object's place.
    package init(bucket: BucketName, key: ObjectKey) {
        self.bucket = bucket
        self.key = key
    }
}
