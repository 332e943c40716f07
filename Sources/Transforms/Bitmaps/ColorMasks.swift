/// The bits of a bitmap's pixel that state each channel; 0 = no bits.
struct ColorMasks: Hashable, Sendable {
    var red: UInt32
    var green: UInt32
    var blue: UInt32
    var alpha: UInt32 = 0

    /// Five bits each, the meaning of 16 bits without masks.
    static let fiveBits = ColorMasks(red: 0x7C00, green: 0x03E0, blue: 0x001F)
    static let bytes = ColorMasks(red: 0xFF_0000, green: 0xFF00, blue: 0xFF)
    static let bytesWithAlpha = ColorMasks(red: 0xFF_0000, green: 0xFF00, blue: 0xFF, alpha: 0xFF00_0000)
}

/// Reads one channel of a pixel as 8 bits. A channel of more bits loses the lower ones.
struct MaskedChannel {
    private let mask: UInt32
    private let shift: UInt32
    private let samples: [UInt8]

    /// - Parameter mask: its bits need not be contiguous; without any, the channel is always 0.
    init(_ mask: UInt32) {
        self.mask = mask
        guard mask != 0 else {
            (shift, samples) = (0, [0])
            return
        }
        let end = 32 - mask.leadingZeroBitCount
        let kept = min(end - mask.trailingZeroBitCount, 8)
        shift = UInt32(end - kept)
        let most = (1 << kept) - 1
        samples = (0...most).map { UInt8(($0 * 255 + most / 2) / most) }
    }

    func sample(of pixel: UInt32) -> UInt8 { samples[Int((pixel & mask) >> shift)] }
}
