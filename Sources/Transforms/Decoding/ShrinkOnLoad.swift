import DarkroomRequests
import DarkroomVips
import NIOCore

/// How a decoder can deliver fewer pixels than its source has *without ever holding them all*. Only such a source may
/// exceed the limits.
enum ShrinkOnLoad: Hashable, Sendable {
    case never
    /// JPEG in a single scan: by 2, 4 or 8. The scans of a progressive JPEG are held in memory at full size until the
    /// last scan.
    case wholeFactors
    /// Plain lossy WebP, whose rows are scaled as they are decoded. Lossless pixels, alpha and animations are held at
    /// full size.
    case anyFactor

    init(_ format: SourceFormat, source: ByteBuffer, image: VipsImage) {
        switch format {
        case .jpeg where image.int("jpeg-multiscan") == 0: self = .wholeFactors
        case .webp where Self.isPlainLossyWebP(source): self = .anyFactor
        default: self = .never
        }
    }

    /// The largest size of at most `maxPixels` that the decoder can deliver; nil if it has none.
    func largestSize(of size: PixelSize, within maxPixels: Int) -> PixelSize? {
        if size.area <= maxPixels { return size }
        switch self {
        case .never:
            return nil
        case .wholeFactors:
            return JPEGShrink.factor(source: size, within: maxPixels).map(size.shrunk)
        case .anyFactor:
            // One pixel less on each side leaves a margin for the decoder's rounding.
            let scale = (Double(maxPixels) / Double(size.area)).squareRoot()
            let reached = PixelSize(
                width: Int(Double(size.width) * scale) - 1, height: Int(Double(size.height) * scale) - 1)
            return min(reached.width, reached.height) < 1 ? nil : reached
        }
    }

    /// Whether the file's only image data is one `VP8 ` chunk (RFC 9649 §2.5-2.7).
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

/// How far libjpeg may shrink while it decodes. It skips the finer parts of its transform, which is most of the work.
enum JPEGShrink {
    /// The largest of 8, 4, 2 and 1 that leaves at least `headroom` times the target on both sides.
    ///
    /// Never a factor that leaves a side shorter than a block: libvips 8.14.1 aborts the process for an image one row
    /// high.
    static func factor(source: PixelSize, covering target: PixelSize, headroom: Double) -> Int {
        let fits = [8, 4, 2].first { factor in
            [(source.width, target.width), (source.height, target.height)].allSatisfy { source, target in
                Double(source) / Double(factor) >= max(Double(target) * headroom, Double(shortestSide))
            }
        }
        return fits ?? 1
    }

    /// The smallest of 1, 2, 4 and 8 that shrinks the image to at most `maxPixels`; nil if none does.
    static func factor(source: PixelSize, within maxPixels: Int) -> Int? {
        [1, 2, 4, 8].first { factor in
            source.shrunk(by: factor).area <= maxPixels
                && (factor == 1 || min(source.width, source.height) >= factor * shortestSide)
        }
    }

    /// Whether a decode at this factor would notice that the file is truncated.
    ///
    /// A shrunk image has `floor(height / factor)` rows, so the last row of blocks may stay unread. If the file does
    /// not end properly, only a full decode shows whether it is corrupt.
    static func detectsTruncation(of source: ByteBuffer, height: Int, factor: Int) -> Bool {
        JPEGContainer.hasEnd(source) || height.isMultiple(of: factor) && !JPEGContainer.lacksOnlyEnd(source)
    }

    /// What the light of a shrunk image lacks: this factor times the squares of differences between neighbors, where 1
    /// is white.
    ///
    /// libjpeg averages stored samples, which gives the light of their mean instead of the mean of their light. The
    /// factors have the best SSIMULACRA2 of six photographs, by `Benchmarks/run.sh pixels`.
    static func missingDetail(by factor: Int) -> Double {
        switch factor {
        case 1: 0
        case 2: 0.65
        case 4: 1.15
        default: 1.6
        }
    }

    private static let shortestSide = 8
}
