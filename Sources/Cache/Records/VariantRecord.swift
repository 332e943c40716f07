package import DarkroomRequests
package import DarkroomStore
package import DarkroomTransforms
package import NIOCore

/// The metadata stored with a variant's bytes.
package struct VariantRecord: Hashable, Sendable {
    /// The hash of the variant's original. The variant is used only while the source has this content.
    package var content: StoreKey
    package var format: OutputFormat
    /// The size of the image, or of the image that a document describes.
    package var size: PixelSize
    /// The size of the original in bytes.
    package var sourceBytes: Int
    /// The SHA-256 of the body in 64 hexadecimal digits.
    package var digest: String
    /// The quality of the result if the request left it to the image; nil if not.
    package var quality: ResultQuality?
    /// What of an SVG is not drawn as browsers draw it.
    package var gaps: SVGGaps
    /// The number of faces that were found for the result, 0…100; nil = none were looked for.
    package var faces: Int?

    private static let revision: UInt8 = 6
    private static let noQuality: UInt8 = 255
    private static let noFaces: UInt8 = 255
    private static let maxFaces: UInt8 = 100

    package init(
        content: StoreKey, format: OutputFormat, size: PixelSize, sourceBytes: Int, digest: String,
        quality: ResultQuality? = nil, gaps: SVGGaps = [], faces: Int? = nil
    ) {
        self.content = content
        self.format = format
        self.size = size
        self.sourceBytes = sourceBytes
        self.digest = digest
        self.quality = quality
        self.gaps = gaps
        self.faces = faces
    }

    /// Decodes metadata; nil if the bytes are of another revision or malformed.
    package init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard bytes.readInteger(as: UInt8.self) == Self.revision,
            let content = bytes.readKey(),
            let length = bytes.readInteger(as: UInt8.self),
            let name = bytes.readString(length: Int(length)), let format = OutputFormat(rawValue: name),
            let width = bytes.readInteger(as: UInt32.self), let height = bytes.readInteger(as: UInt32.self),
            let sourceBytes = bytes.readInteger(as: UInt64.self).flatMap(Int.init(exactly:)),
            let digest = bytes.readString(length: 64), StoreKey(hex: digest) != nil,
            let code = bytes.readInteger(as: UInt8.self), case let quality = ResultQuality(code: code),
            code == Self.noQuality || quality != nil,
            let gaps = bytes.readInteger(as: UInt8.self).map(SVGGaps.init(rawValue:)),
            let faces = bytes.readInteger(as: UInt8.self), faces <= Self.maxFaces || faces == Self.noFaces
        else { return nil }
        self.init(
            content: content, format: format, size: PixelSize(width: Int(width), height: Int(height)),
            sourceBytes: sourceBytes, digest: digest, quality: quality, gaps: gaps,
            faces: faces == Self.noFaces ? nil : Int(faces))
    }

    package var bytes: ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeInteger(Self.revision)
        bytes.writeBytes(content.bytes)
        bytes.writeInteger(UInt8(format.rawValue.utf8.count))
        bytes.writeString(format.rawValue)
        bytes.writeInteger(UInt32(clamping: size.width))
        bytes.writeInteger(UInt32(clamping: size.height))
        bytes.writeInteger(UInt64(clamping: sourceBytes))
        bytes.writeString(digest)
        bytes.writeInteger(quality?.code ?? Self.noQuality)
        bytes.writeInteger(gaps.rawValue)
        bytes.writeInteger(faces.map { min(UInt8(clamping: $0), Self.maxFaces) } ?? Self.noFaces)
        return bytes
    }
}
