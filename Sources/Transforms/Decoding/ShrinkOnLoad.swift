import DarkroomVips
import NIOCore

/// How a decoder can give fewer pixels than its source has *without ever holding them all*: only such a source may be larger
/// than the limits.
enum ShrinkOnLoad: Hashable, Sendable {
    case never
    /// JPEG in a single scan: by 2, 4 or 8. The scans of other JPEGs are held in memory at full size until the last is there.
    case wholeFactors
    /// Plain lossy WebP, whose rows are scaled as they come. Lossless pixels, alpha and animations are held at full size.
    case anyFactor

    init(_ format: SourceFormat, source: ByteBuffer, image: VipsImage) {
        switch format {
        case .jpeg where image.int("jpeg-multiscan") == 0: self = .wholeFactors
        case .webp where Self.isPlainLossyWebP(source): self = .anyFactor
        default: self = .never
        }
    }

    /// The largest size of at most `maxPixels` that the decoder can give; nil where it cannot get there.
    func reach(of size: PixelSize, within maxPixels: Int) -> PixelSize? {
        if size.area <= maxPixels { return size }
        switch self {
        case .never:
            return nil
        case .wholeFactors:
            return JPEGShrink.factor(source: size, within: maxPixels).map(size.shrunk)
        case .anyFactor:
            // Another pixel of each side is room for the decoder's rounding.
            let scale = (Double(maxPixels) / Double(size.area)).squareRoot()
            let reached = PixelSize(
                width: Int(Double(size.width) * scale) - 1, height: Int(Double(size.height) * scale) - 1)
            return min(reached.width, reached.height) < 1 ? nil : reached
        }
    }

    /// Whether all that the file's chunks draw is one `VP8 ` chunk (RFC 9649 §2.5-2.7).
    private static func isPlainLossyWebP(_ source: ByteBuffer) -> Bool {
        var rest = source
        guard rest.readSlice(length: 12) != nil else { return false }
        while let name = rest.readString(length: 4), let length = rest.readInteger(endianness: .little, as: UInt32.self)
        {
            switch name {
            case "VP8 ": return true
            case "VP8L", "ALPH", "ANIM", "ANMF": return false
            default: guard rest.readSlice(length: Int(length) + Int(length & 1)) != nil else { return false }
            }
        }
        return false
    }
}
