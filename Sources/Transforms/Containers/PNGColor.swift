import NIOCore

extension PNGContainer {
    /// The color space that a file states without an ICC profile, and whether it takes precedence over a profile.
    ///
    /// The order is `cICP`, `iCCP`, `sRGB`, then `gAMA` and `cHRM` (PNG 3rd edition, §4.3). Chunks that are corrupt or
    /// out of range, or that no browser supports, count as missing.
    static func color(of file: ByteBuffer) -> (code: ColorCode, isFirst: Bool)? {
        var chunks: [UInt32: ByteBuffer] = [:]
        _ = eachChunkBeforePixels(of: file) { chunk in
            // The first counts, as in libpng.
            guard PNGChunk.colors.contains(chunk.type), chunks[chunk.type] == nil, chunk.isIntact else { return }
            chunks[chunk.type] = chunk.bytes.getSlice(at: chunk.bytes.readerIndex + 8, length: chunk.length)
        }
        let peak = [PNGChunk.contentLight, PNGChunk.masteringDisplay].lazy.compactMap { chunks[$0] }
            .compactMap(peakNits).first
        if let points = chunks[PNGChunk.codePoints].flatMap({ codePoints(in: $0, peakNits: peak ?? 0) }) {
            return (code: .codePoints(points), isFirst: true)
        }
        let intent = chunks[PNGChunk.standardColors]
        guard intent?.readableBytes != 1 || intent?.readableBytesView.first ?? 0 > 3 else { return nil }
        // Browsers ignore chromaticities without a gamma.
        guard let gamma = chunks[PNGChunk.gamma].flatMap(Self.gamma(in:)) else { return nil }
        let chromaticities = chunks[PNGChunk.chromaticities].flatMap(Self.chromaticities(in:))
        return (code: .measured(gamma: gamma, chromaticities), isFirst: false)
    }

    /// Samples are stored as red, green and blue in full range; an unspecified code point says nothing.
    private static func codePoints(in content: ByteBuffer, peakNits: Int) -> CodePoints? {
        guard content.readableBytes == 4, let codes = content.getBytes(at: content.readerIndex, length: 4),
            codes[2] == 0, codes[3] == 1, codes[0] != 2, codes[1] != 2
        else { return nil }
        let points = CodePoints(
            primaries: Int(codes[0]), transfer: Int(codes[1]), matrix: 0, isFullRange: true,
            peakNits: peakNits, hasDisplayCurve: true)
        return points.space == nil ? nil : points
    }

    /// The brightest light of the content, or else of the display on which it was made (§11.3.2.7 and §11.3.2.8); nil =
    /// unknown.
    private static func peakNits(in content: ByteBuffer) -> Int? {
        // Eight chromaticities of 16 bits come before the light of a display.
        guard let offset = [8: 0, 24: 16][content.readableBytes],
            let light = content.getInteger(at: content.readerIndex + offset, as: UInt32.self), light > 0
        else { return nil }
        return max(1, Int(light / 10_000))
    }

    private static func gamma(in content: ByteBuffer) -> Int? {
        guard content.readableBytes == 4 else { return nil }
        return content.getInteger(at: content.readerIndex, as: UInt32.self).flatMap {
            (1...UInt32(Int32.max)).contains($0) ? Int($0) : nil
        }
    }

    /// White, red, green and blue, x and y each, in 1/100,000.
    private static func chromaticities(in content: ByteBuffer) -> Chromaticities? {
        guard content.readableBytes == 32 else { return nil }
        var rest = content
        let numbers = (0..<8).compactMap { _ in rest.readInteger(as: UInt32.self).map { Double($0) / 100_000 } }
        let chromaticities = Chromaticities(
            red: [numbers[2], numbers[3]], green: [numbers[4], numbers[5]], blue: [numbers[6], numbers[7]],
            white: [numbers[0], numbers[1]])
        return chromaticities.toXYZ == nil ? nil : chromaticities
    }
}

extension PNGChunk {
    /// `cICP`, `gAMA`, `cHRM`, `cLLI` and `mDCV`.
    fileprivate static let codePoints: UInt32 = 0x6349_4350
    fileprivate static let gamma: UInt32 = 0x6741_4D41
    fileprivate static let chromaticities: UInt32 = 0x6348_524D
    fileprivate static let contentLight: UInt32 = 0x634C_4C49
    fileprivate static let masteringDisplay: UInt32 = 0x6D44_4356
    fileprivate static let colors = [
        codePoints, standardColors, gamma, chromaticities, contentLight, masteringDisplay,
    ]
}
