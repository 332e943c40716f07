import DarkroomNetwork
package import NIOCore

/// An object to write.
package struct ObjectWrite: Sendable {
    static let metadataPrefix = "x-amz-meta-"
    /// The largest size of all metadata, names and values together, that S3 accepts.
    package static let maxMetadataBytes = 2048

    /// The bytes.
    package var body: ByteBuffer
    /// The media type.
    package var contentType: String
    /// User-defined metadata: names of lower-case letters, digits, `-`, `_` and `.`; values of printable ASCII that
    /// neither begin nor end with a space. Stores ignore the case of names.
    package var metadata: [String: String]
    /// Whether to write only if no object has the key (`If-None-Match: *`). Some stores ignore this silently. A write
    /// whose answer is lost is tried again, and fails with ``ObjectStorageError/preconditionFailed`` if it had
    /// succeeded.
    package var onlyIfAbsent: Bool

    /// An object to write.
    package init(
        _ body: ByteBuffer, contentType: String = "application/octet-stream", metadata: [String: String] = [:],
        onlyIfAbsent: Bool = false
    ) {
        self.body = body
        self.contentType = contentType
        self.metadata = metadata
        self.onlyIfAbsent = onlyIfAbsent
    }

    /// The fields of the request.
    ///
    /// - Throws: ``ObjectStorageError/invalidRequest(_:)``.
    func fields() throws(ObjectStorageError) -> [SignedField] {
        var fields = [SignedField("content-type", contentType)]
        if onlyIfAbsent { fields.append(SignedField("if-none-match", "*")) }
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) {
            guard !name.isEmpty, name.utf8.allSatisfy({ $0.isPlainNameCharacter && !$0.isASCIIUppercase }) else {
                throw .invalidRequest(.field)
            }
            fields.append(SignedField(Self.metadataPrefix + name, value))
        }
        let metadataBytes = metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard metadataBytes <= Self.maxMetadataBytes, fields.allSatisfy(\.isValid) else {
            throw .invalidRequest(.field)
        }
        return fields
    }
}

extension UInt8 {
    fileprivate var isASCIIUppercase: Bool { (0x41...0x5a).contains(self) }
}
