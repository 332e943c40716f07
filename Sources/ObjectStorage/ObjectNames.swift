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

    /// The key in a URL: every byte is encoded, except unreserved bytes and `/`. Signature Version 4 requires this
    /// form.
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
    package let bucket: BucketName
    /// The key in the bucket.
    package let key: ObjectKey

    /// An object's place.
    package init(bucket: BucketName, key: ObjectKey) {
        self.bucket = bucket
        self.key = key
    }
}

/// The name of a bucket: 3 to 255 ASCII letters, digits, `-`, `_` and `.`, with a letter or a digit at both ends.
///
/// This is the union of what stores accept. A bucket that is addressed as part of a host name must in addition be a
/// valid host name; see ``isHostName``.
package struct BucketName: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Throws: ``ObjectStorageError/invalidRequest(_:)``.
    package init(_ name: String) throws(ObjectStorageError) {
        let bytes = Array(name.utf8)
        guard (3...255).contains(bytes.count), bytes.allSatisfy(\.isPlainNameCharacter),
            let first = bytes.first, let last = bytes.last, first.isASCIIAlphanumeric, last.isASCIIAlphanumeric
        else { throw .invalidRequest(.bucket) }
        description = name
    }

    /// Whether the name can be part of a host name: 3 to 63 lower-case letters, digits, `-` and `.`, without empty
    /// labels.
    var isHostName: Bool {
        let bytes = Array(description.utf8)
        return bytes.count <= 63
            && bytes.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || $0 == 0x2d || $0 == 0x2e }
            && !bytes.split(separator: 0x2e, omittingEmptySubsequences: false).contains(where: \.isEmpty)
    }
}
