import DarkroomStore
import DarkroomTransforms
import NIOCore

/// The metadata stored with a variant's bytes.
struct VariantRecord: Hashable, Sendable {
    /// The hash of the original that it was made from. The variant is used only while that is the source's content.
    var content: StoreKey
    var format: OutputFormat
    /// The SHA-256 of the body in 64 hexadecimal digits.
    var digest: String

    private static let revision: UInt8 = 2

    init(content: StoreKey, format: OutputFormat, digest: String) {
        self.content = content
        self.format = format
        self.digest = digest
    }

    /// Decodes metadata; nil if the bytes are of another revision or malformed.
    init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard bytes.readInteger(as: UInt8.self) == Self.revision,
            let content = bytes.readBytes(length: StoreKey.byteCount).flatMap(StoreKey.init(digest:)),
            let length = bytes.readInteger(as: UInt8.self),
            let name = bytes.readString(length: Int(length)), let format = OutputFormat(rawValue: name),
            let digest = bytes.readString(length: 64), StoreKey(hex: digest) != nil
        else { return nil }
        self.init(content: content, format: format, digest: digest)
    }

    var bytes: ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeInteger(Self.revision)
        bytes.writeBytes(content.bytes)
        bytes.writeInteger(UInt8(format.rawValue.utf8.count))
        bytes.writeString(format.rawValue)
        bytes.writeString(digest)
        return bytes
    }
}
