import DarkroomNetwork

/// The name of a bucket: 3 to 255 ASCII letters, digits, `-`, `_` and `.`, with a letter or a digit at both ends.
///
/// This is the union of what stores accept. A bucket that is addressed as part of a host name must in addition be a
/// valid host name; see ``isHostName``.
package struct BucketName: Hashable, Sendable, CustomStringConvertible {
    /// The name.
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
