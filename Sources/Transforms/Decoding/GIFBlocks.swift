import NIOCore

/// The blocks that a GIF is made of (GIF89a §12-26). The decoder drops a last frame that is not whole, so cuts have to be found here.
enum GIFBlocks {
    /// Whether the bytes end inside a block. A missing trailer is forgiven: too many whole files have none.
    static func isCutOff(_ source: ByteBuffer) -> Bool {
        var rest = source
        guard rest.readSlice(length: 10) != nil, skipColors(&rest, behind: 2) else { return true }
        while let introducer = rest.readInteger(as: UInt8.self) {
            let isWhole: Bool
            switch introducer {
            case 0x21: isWhole = rest.readSlice(length: 1) != nil && skipSubBlocks(&rest)
            case 0x2C: isWhole = skipImage(&rest)
            default: return false
            }
            guard isWhole else { return true }
        }
        return false
    }

    /// Position and size, colours, the code size, the codes.
    private static func skipImage(_ rest: inout ByteBuffer) -> Bool {
        rest.readSlice(length: 8) != nil && skipColors(&rest, behind: 0) && rest.readSlice(length: 1) != nil
            && skipSubBlocks(&rest)
    }

    /// A byte of flags, `behind` more bytes, and the colour table that the flags announce.
    private static func skipColors(_ rest: inout ByteBuffer, behind: Int) -> Bool {
        guard let flags = rest.readInteger(as: UInt8.self) else { return false }
        let colors = flags & 0x80 == 0 ? 0 : 2 << Int(flags & 7)
        return rest.readSlice(length: behind + 3 * colors) != nil
    }

    private static func skipSubBlocks(_ rest: inout ByteBuffer) -> Bool {
        while let length = rest.readInteger(as: UInt8.self) {
            if length == 0 { return true }
            guard rest.readSlice(length: Int(length)) != nil else { return false }
        }
        return false
    }
}
