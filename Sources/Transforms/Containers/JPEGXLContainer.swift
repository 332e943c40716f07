import NIOCore

/// The boxes of a JPEG XL file (ISO/IEC 18181-2 §9). A file may also be only its codestream.
enum JPEGXLContainer {
    /// The file with an XMP packet in front of its codestream; nil if it does not have the expected form.
    static func adding(xmp: ByteBuffer, to file: ByteBuffer) -> ByteBuffer? {
        var whole = ByteBuffer()
        whole.reserveCapacity(file.readableBytes + xmp.readableBytes + 64)
        var rest = file
        let isCodestream = rest.getInteger(at: rest.readerIndex, as: UInt16.self) == 0xFF0A
        if isCodestream {
            whole.writeISOBox("JXL ") { $0.writeInteger(UInt32(0x0D0A_870A)) }
            whole.writeISOBox("ftyp") { $0.writeString("jxl \0\0\0\0jxl ") }
        } else {
            guard let signature = ISOBox(from: &rest), signature.type == "JXL ", let type = ISOBox(from: &rest),
                type.type == "ftyp"
            else { return nil }
            whole.writeImmutableBuffer(signature.bytes)
            whole.writeImmutableBuffer(type.bytes)
        }
        whole.writeISOBox("xml ") { $0.writeImmutableBuffer(xmp) }
        if isCodestream {
            whole.writeISOBox("jxlc") { $0.writeImmutableBuffer(rest) }
        } else {
            whole.writeImmutableBuffer(rest)
        }
        return whole
    }

    /// The XMP packet, unless it is compressed; nil = none.
    static func xmp(of file: ByteBuffer) -> ByteBuffer? { box(of: file) { $0.type == "xml " }?.content }

    /// Whether there is a C2PA manifest.
    static func hasManifest(_ file: ByteBuffer) -> Bool { box(of: file) { $0.bytes.beginsManifest(at: 0) } != nil }

    /// The first box that is meant; nil if there is none among the first boxes.
    static func box(of file: ByteBuffer, where isMeant: (ISOBox) -> Bool) -> ISOBox? {
        var rest = file
        for _ in 0..<maxBoxes {
            guard let box = ISOBox(from: &rest) else { return nil }
            if isMeant(box) { return box }
        }
        return nil
    }

    private static let maxBoxes = 16_384
}
