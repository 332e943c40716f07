import NIOCore

/// A box of a file of the ISO base media format (ISO/IEC 14496-12 §4.2).
struct ISOBox: Sendable {
    let type: String
    /// The index of the box's first byte in the buffer that it was read from.
    let start: Int
    /// The whole box.
    let bytes: ByteBuffer
    /// What follows size and type.
    let content: ByteBuffer
    /// Whether the box states no size: it extends to the end of the file.
    let isOpenEnded: Bool

    init?(from rest: inout ByteBuffer) {
        start = rest.readerIndex
        guard let size: UInt32 = rest.getInteger(at: start), let type = rest.getBytes(at: start + 4, length: 4) else {
            return nil
        }
        // Any four bytes are a type, and are written as they were read.
        self.type = String(String.UnicodeScalarView(type.map { Unicode.Scalar($0) }))
        isOpenEnded = size == 0
        var headerLength = 8
        var length = size == 0 ? rest.readableBytes : Int(size)
        if size == 1 {
            guard let large = rest.getInteger(at: start + 8, as: UInt64.self).flatMap(Int.init(exactly:)) else {
                return nil
            }
            (headerLength, length) = (16, large)
        }
        guard length >= headerLength, let bytes = rest.readSlice(length: length),
            let content = bytes.getSlice(at: bytes.readerIndex + headerLength, length: length - headerLength)
        else { return nil }
        (self.bytes, self.content) = (bytes, content)
    }
}

extension ByteBuffer {
    /// Reads all boxes to the end; nil if there are more than `limit`, or if one is incomplete.
    mutating func readISOBoxes(atMost limit: Int) -> [ISOBox]? {
        var boxes: [ISOBox] = []
        while readableBytes > 0 {
            guard boxes.count < limit, let box = ISOBox(from: &self) else { return nil }
            boxes.append(box)
        }
        return boxes
    }

    /// Reads the version and the flags of a box that has them (§4.2.2).
    mutating func readISOVersion() -> (version: UInt8, flags: UInt32)? {
        readInteger(as: UInt32.self).map { (UInt8($0 >> 24), $0 & 0xFF_FFFF) }
    }

    /// Reads an integer of 32 bits if `isWide` is true, else of 16 bits.
    mutating func readISOInteger(isWide: Bool) -> UInt32? {
        isWide ? readInteger() : readInteger(as: UInt16.self).map(UInt32.init)
    }

    /// Appends a box with the bytes that `body` appends.
    mutating func writeISOBox(_ type: String, _ body: (inout ByteBuffer) -> Void) {
        let start = writerIndex
        writeInteger(UInt32(0))
        writeBytes(type.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        body(&self)
        setInteger(UInt32(clamping: writerIndex - start), at: start)
    }
}
