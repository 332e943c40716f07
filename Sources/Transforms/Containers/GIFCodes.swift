import NIOCore

/// The codes of a GIF's image (GIF89a, Appendix F), which are counted without drawing them.
///
/// libvips leaves pixels without codes as they are, and reports nothing.
enum GIFCodes {
    /// Whether an image has codes for only a part of its pixels. False for codes that are not valid, which libvips
    /// reports.
    ///
    /// - Parameter image: the file behind the introducer of the image.
    static func lackPixels(ofImage image: ByteBuffer) -> Bool {
        var rest = image
        guard
            let (_, _, width, height) = rest.readMultipleIntegers(
                endianness: .little, as: (UInt16, UInt16, UInt16, UInt16).self),
            rest.skipGIFColors(behind: 0), let bits = rest.readInteger(as: UInt8.self),
            (1..<maxBits).contains(Int(bits))
        else { return false }
        var count = Count(pixels: Int(width) * Int(height), bits: Int(bits))
        while count.isUndecided, let length = rest.readInteger(as: UInt8.self), length > 0 {
            let block = rest.readSlice(length: min(Int(length), rest.readableBytes))
            block?.withUnsafeReadableBytes { count.read($0) }
        }
        return count.isValid && count.missing > 0
    }

    /// The most bits of a code.
    private static let maxBits = 12

    /// The pixels of an image that its codes have not given so far.
    private struct Count {
        private(set) var missing: Int
        private(set) var isValid = true
        private var hasEnded = false
        private let clear: Int
        /// The pixels that a code stands for.
        private var lengths = [UInt16](repeating: 1, count: 1 << maxBits)
        /// The code that is defined next.
        private var next: Int
        private var width: Int
        private var previous: Int?
        private var (bits, bitCount): (UInt32, Int) = (0, 0)

        init(pixels: Int, bits: Int) {
            (missing, clear) = (pixels, 1 << bits)
            (next, width) = (clear + 2, bits + 1)
        }

        var isUndecided: Bool { isValid && !hasEnded && missing > 0 }

        /// Reads a block. In one loop without calls, since most GIFs are read for this.
        mutating func read(_ block: UnsafeRawBufferPointer) {
            lengths.withUnsafeMutableBufferPointer { lengths in
                for byte in block {
                    bits |= UInt32(byte) << UInt32(bitCount)
                    bitCount += 8
                    while bitCount >= width {
                        let code = Int(bits & (1 << UInt32(width) - 1))
                        bits >>= UInt32(width)
                        bitCount -= width
                        if code == clear {
                            (next, previous) = (clear + 2, nil)
                            width = clear.trailingZeroBitCount + 1
                            continue
                        }
                        hasEnded = code == clear + 1
                        guard !hasEnded else { return }
                        isValid = previous == nil ? code < clear : code < next || code == next && next < lengths.count
                        guard isValid else { return }
                        if let previous, next < lengths.count {
                            lengths[next] = lengths[previous] + 1
                            next += 1
                            if next == 1 << width, width < maxBits { width += 1 }
                        }
                        missing -= Int(lengths[code])
                        previous = code
                        guard missing > 0 else { return }
                    }
                }
            }
        }
    }
}
