import DarkroomStore
import DarkroomTransforms
import NIOCore

/// The metadata stored with a variant's bytes.
struct VariantRecord: Hashable, Sendable {
    /// The hash of the original that it was made from. The variant is used only while that is the source's content.
    var content: StoreKey
    var format: OutputFormat
    /// The size of the image, or of the image that a document describes.
    var size: PixelSize
    /// The size of the original in bytes.
    var sourceBytes: Int
    /// The SHA-256 of the body in 64 hexadecimal digits.
    var digest: String

    private static let revision: UInt8 = 3

    init(content: StoreKey, format: OutputFormat, size: PixelSize, sourceBytes: Int, digest: String) {
        self.content = content
        self.format = format
        self.size = size
        self.sourceBytes = sourceBytes
        self.digest = digest
    }

    /// Decodes metadata; nil if the bytes are of another revision or malformed.
    init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard bytes.readInteger(as: UInt8.self) == Self.revision,
            let content = bytes.readBytes(length: StoreKey.byteCount).flatMap(StoreKey.init(digest:)),
            let length = bytes.readInteger(as: UInt8.self),
            let name = bytes.readString(length: Int(length)), let format = OutputFormat(rawValue: name),
            let width = bytes.readInteger(as: UInt32.self), let height = bytes.readInteger(as: UInt32.self),
            let sourceBytes = bytes.readInteger(as: UInt64.self).flatMap(Int.init(exactly:)),
            let digest = bytes.readString(length: 64), StoreKey(hex: digest) != nil
        else { return nil }
        self.init(
            content: content, format: format, size: PixelSize(width: Int(width), height: Int(height)),
            sourceBytes: sourceBytes, digest: digest)
    }

    var bytes: ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeInteger(Self.revision)
        bytes.writeBytes(content.bytes)
        bytes.writeInteger(UInt8(format.rawValue.utf8.count))
        bytes.writeString(format.rawValue)
        bytes.writeInteger(UInt32(clamping: size.width))
        bytes.writeInteger(UInt32(clamping: size.height))
        bytes.writeInteger(UInt64(clamping: sourceBytes))
        bytes.writeString(digest)
        return bytes
    }
}
