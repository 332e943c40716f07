import NIOCore

/// The colors of an AV1 image, as its sequence header states them (AV1 Bitstream Specification §5.5).
enum AV1SequenceHeader {
    /// - Parameter item: the image's data, a sequence of units (§5.3).
    /// - Returns: nil without a complete header. Code points are 2 if they are not stated.
    static func color(of item: ByteBuffer) -> HEIFColor? {
        var rest = item
        for _ in 0..<maxUnits {
            guard let unit = rest.readInteger(as: UInt8.self) else { return nil }
            let (type, hasExtension, hasSize) = (unit >> 3 & 0x0F, unit & 4 != 0, unit & 2 != 0)
            if hasExtension, rest.readInteger(as: UInt8.self) == nil { return nil }
            guard let size = hasSize ? rest.readLEB128() : rest.readableBytes,
                let content = rest.readSlice(length: size)
            else { return nil }
            guard type == sequenceHeader else { continue }
            var bits = BitReader(content, .highestFirst)
            return color(&bits)
        }
        return nil
    }

    private static let sequenceHeader: UInt8 = 1
    /// The most units up to the header.
    private static let maxUnits = 64

    private static func color(_ bits: inout BitReader) -> HEIFColor? {
        guard let profile = bits.read(3), bits.skip(1), let isReduced = bits.readFlag() else { return nil }
        if isReduced {
            guard bits.skip(5) else { return nil }
        } else if !skipOperatingPoints(&bits) {
            return nil
        }
        guard let width = bits.read(4), let height = bits.read(4), bits.skip(Int(width) + 1, Int(height) + 1) else {
            return nil
        }
        if !isReduced {
            guard let hasFrameNumbers = bits.readFlag(), bits.skip(hasFrameNumbers ? 7 : 0) else { return nil }
        }
        // Superblocks of 128 pixels, filter and edges; later super-resolution, CDEF and restoration.
        guard bits.skip(3), isReduced || skipTools(&bits), bits.skip(3) else { return nil }
        return colorConfiguration(&bits, profile: profile)
    }

    /// Timing, decoder model, and for each operating point its level and delays.
    private static func skipOperatingPoints(_ bits: inout BitReader) -> Bool {
        guard let hasTiming = bits.readFlag() else { return false }
        var delayLength: Int?
        if hasTiming {
            guard bits.skip(64), let isConstant = bits.readFlag(), !isConstant || skipVariableLength(&bits),
                let hasModel = bits.readFlag()
            else { return false }
            if hasModel {
                guard let length = bits.read(5), bits.skip(32, 5, 5) else { return false }
                delayLength = Int(length) + 1
            }
        }
        guard let hasDelays = bits.readFlag(), let last = bits.read(5) else { return false }
        for _ in 0...last {
            guard bits.skip(12), let level = bits.read(5), bits.skip(level > 7 ? 1 : 0) else { return false }
            if let delayLength {
                guard let hasModel = bits.readFlag(), bits.skip(hasModel ? 2 * delayLength + 1 : 0) else {
                    return false
                }
            }
            if hasDelays {
                guard let hasDelay = bits.readFlag(), bits.skip(hasDelay ? 4 : 0) else { return false }
            }
        }
        return true
    }

    /// As many bits as zeros come before the first one (§4.10.3).
    private static func skipVariableLength(_ bits: inout BitReader) -> Bool {
        var zeros = 0
        while let bit = bits.readFlag() {
            if bit { return bits.skip(zeros < 32 ? zeros : 0) }
            zeros += 1
        }
        return false
    }

    private static func skipTools(_ bits: inout BitReader) -> Bool {
        guard bits.skip(4), let hasOrder = bits.readFlag(), bits.skip(hasOrder ? 2 : 0),
            let choosesScreenContent = bits.readFlag(),
            let hasScreenContent = choosesScreenContent ? true : bits.readFlag()
        else { return false }
        if hasScreenContent {
            guard let choosesVectors = bits.readFlag(), bits.skip(choosesVectors ? 0 : 1) else { return false }
        }
        return bits.skip(hasOrder ? 3 : 0)
    }

    private static func colorConfiguration(_ bits: inout BitReader, profile: UInt32) -> HEIFColor? {
        guard let isDeep = bits.readFlag(), bits.skip(profile == 2 && isDeep ? 1 : 0),
            let isGray = profile == 1 ? false : bits.readFlag(), let isStated = bits.readFlag()
        else { return nil }
        var points: [UInt32] = [2, 2, 2]
        if isStated {
            guard let primaries = bits.read(8), let transfer = bits.read(8), let matrix = bits.read(8) else {
                return nil
            }
            points = [primaries, transfer, matrix]
        }
        // Red, green and blue in sRGB have no other range.
        let isIdentity = !isGray && points == [1, 13, 0]
        guard let isFull = isIdentity ? true : bits.readFlag() else { return nil }
        return HEIFColor(
            primaries: UInt16(points[0]), transfer: UInt16(points[1]), matrix: UInt16(points[2]), isFullRange: isFull)
    }
}

extension ByteBuffer {
    /// Reads an integer of up to eight bytes with seven bits each (AV1 §4.10.5).
    fileprivate mutating func readLEB128() -> Int? {
        var value = 0
        for index in 0..<8 {
            guard let byte = readInteger(as: UInt8.self) else { return nil }
            value |= Int(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}
