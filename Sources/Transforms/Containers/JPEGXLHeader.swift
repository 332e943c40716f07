import NIOCore

/// The image header of a JPEG XL (ISO/IEC 18181-1 Annex D), as far as libvips does not report it.
enum JPEGXLHeader {
    /// Whether the colors are multiplied by the first alpha channel.
    static func isPremultiplied(_ file: ByteBuffer) -> Bool {
        guard let stream = codestream(of: file) else { return false }
        var bits = BitReader(stream, .lowestFirst)
        return bits.readJPEGXLPremultiplied() ?? false
    }

    /// The codestream from behind its signature on, or its first part (ISO/IEC 18181-2 §9).
    private static func codestream(of file: ByteBuffer) -> ByteBuffer? {
        var stream = file
        if file.getInteger(at: file.readerIndex, as: UInt16.self) != signature {
            guard let box = JPEGXLContainer.box(of: file, where: { ["jxlc", "jxlp"].contains($0.type) }) else {
                return nil
            }
            stream = box.content
            // A part begins with its number.
            if box.type == "jxlp" { stream.moveReaderIndex(forwardBy: min(4, stream.readableBytes)) }
        }
        return stream.readInteger(as: UInt16.self) == signature ? stream : nil
    }

    private static let signature: UInt16 = 0xFF0A
}

extension BitReader {
    fileprivate mutating func readJPEGXLPremultiplied() -> Bool? {
        guard skipJPEGXLSize(), let isDefault = readFlag(), !isDefault, let hasExtras = readFlag() else { return nil }
        if hasExtras {
            guard skip(3), let hasIntrinsicSize = readFlag(), !hasIntrinsicSize || skipJPEGXLSize(),
                let hasPreview = readFlag(), !hasPreview || skipJPEGXLPreview(), let hasAnimation = readFlag(),
                !hasAnimation || skipJPEGXLAnimation()
            else { return nil }
        }
        guard skipJPEGXLDepth(), skip(1), let count = readJPEGXLInteger((0, 0), (1, 0), (2, 4), (1, 12)) else {
            return nil
        }
        for _ in 0..<count {
            guard let isDefault = readFlag() else { return nil }
            if isDefault { return false }
            guard let type = readJPEGXLInteger((0, 0), (1, 0), (2, 4), (18, 6)), skipJPEGXLDepth(),
                readJPEGXLInteger((0, 0), (3, 0), (4, 0), (1, 3)) != nil,
                let nameLength = readJPEGXLInteger((0, 0), (0, 4), (16, 5), (48, 10)), skip(8 * nameLength)
            else { return nil }
            switch type {
            case 0: return readFlag()
            // Spot colors and filters.
            case 2: guard skip(4 * 16) else { return nil }
            case 5: guard readJPEGXLInteger((1, 0), (0, 2), (3, 4), (19, 8)) != nil else { return nil }
            default: break
            }
        }
        return false
    }

    /// Reads one of four forms, each a number to add and a count of bits (§B.2.2).
    private mutating func readJPEGXLInteger(_ forms: (add: Int, bits: Int)...) -> Int? {
        guard let form = read(2), let value = read(forms[Int(form)].bits) else { return nil }
        return forms[Int(form)].add + Int(value)
    }

    /// Height, and width or their ratio (§D.2).
    private mutating func skipJPEGXLSize() -> Bool {
        guard let isSmall = readFlag() else { return false }
        func skipSide(_ bits: inout BitReader) -> Bool {
            isSmall ? bits.skip(5) : bits.readJPEGXLInteger((1, 9), (1, 13), (1, 18), (1, 30)) != nil
        }
        guard skipSide(&self), let ratio = read(3) else { return false }
        return ratio != 0 || skipSide(&self)
    }

    private mutating func skipJPEGXLPreview() -> Bool {
        guard let isSmall = readFlag() else { return false }
        func skipSide(_ bits: inout BitReader) -> Bool {
            let side =
                isSmall
                ? bits.readJPEGXLInteger((16, 0), (32, 0), (1, 5), (33, 9))
                : bits.readJPEGXLInteger((1, 6), (65, 8), (321, 10), (1345, 12))
            return side != nil
        }
        guard skipSide(&self), let ratio = read(3) else { return false }
        return ratio != 0 || skipSide(&self)
    }

    private mutating func skipJPEGXLAnimation() -> Bool {
        readJPEGXLInteger((100, 0), (1000, 0), (1, 10), (1, 30)) != nil
            && readJPEGXLInteger((1, 0), (1001, 0), (1, 8), (1, 10)) != nil
            && readJPEGXLInteger((0, 0), (0, 3), (0, 16), (0, 32)) != nil && skip(1)
    }

    private mutating func skipJPEGXLDepth() -> Bool {
        guard let isFloat = readFlag() else { return false }
        return isFloat
            ? readJPEGXLInteger((32, 0), (16, 0), (24, 0), (1, 6)) != nil && skip(4)
            : readJPEGXLInteger((8, 0), (10, 0), (12, 0), (1, 6)) != nil
    }
}
