import DarkroomRequests
import DarkroomVips
import NIOCore

/// The frames of an animated PNG (PNG 3rd edition, §4.9 and §11.3.6).
///
/// Each frame is compressed like an image of its own. libvips 8.14 decodes the default image only, so each frame is
/// turned into a file (``file(of:in:colors:)``), and ``PNGAnimationDecoder`` draws the frames on the canvas.
struct PNGAnimation: Hashable, Sendable {
    /// What happens to a frame's area before the next frame is drawn.
    enum Disposal: UInt8 {
        case none, background, previous
    }

    /// How the pixels of a frame change the canvas.
    enum Blending: UInt8 {
        case source, over
    }

    struct Frame: Hashable, Sendable {
        let x: Int
        let y: Int
        let size: PixelSize
        /// In milliseconds.
        let delay: Int
        let disposal: Disposal
        let blending: Blending
        /// The chunks with the frame's pixels, counted from the start of the file; other chunks may be among them.
        fileprivate(set) var pixels = 0..<0
        /// Whether it is the default image, whose pixels are in `IDAT` chunks.
        fileprivate(set) var isDefaultImage = false
    }

    let size: PixelSize
    /// At least one.
    let frames: [Frame]
    /// How many times the animation plays; 0 = indefinitely.
    let plays: Int
    /// Whether parts of the canvas are transparent in some frame, whatever the pixels of the frames are.
    let clearsPixels: Bool

    /// The frames before the first fault, as browsers show them. Nil for a still image, and without such a frame, so
    /// that the default image is shown.
    init?(in file: ByteBuffer) {
        guard let animation = Walk(file)?.animation else { return nil }
        self = animation
    }

    private init(size: PixelSize, frames: [Frame], plays: Int) {
        (self.size, self.frames, self.plays) = (size, frames, plays)
        clearsPixels =
            !frames[0].covers(size) || frames.count > 1 && frames[0].disposal == .previous
            || frames.dropLast().contains { $0.disposal == .background }
    }
}

extension PNGAnimation.Frame {
    func covers(_ canvas: PixelSize) -> Bool { x == 0 && y == 0 && size == canvas }

    /// Reads the content of an `fcTL` chunk after its sequence number; nil for values that the specification excludes.
    fileprivate init?(_ control: ByteBuffer, on canvas: PixelSize) {
        var rest = control
        guard let width: UInt32 = rest.readInteger(), let height: UInt32 = rest.readInteger(),
            let x: UInt32 = rest.readInteger(), let y: UInt32 = rest.readInteger(),
            let numerator: UInt16 = rest.readInteger(), let denominator: UInt16 = rest.readInteger(),
            let disposal = rest.readInteger().flatMap(PNGAnimation.Disposal.init(rawValue:)),
            let blending = rest.readInteger().flatMap(PNGAnimation.Blending.init(rawValue:)),
            width > 0, height > 0, Int(x) + Int(width) <= canvas.width, Int(y) + Int(height) <= canvas.height
        else { return nil }
        (self.x, self.y, size) = (Int(x), Int(y), PixelSize(width: Int(width), height: Int(height)))
        delay = Int((Double(numerator) * 1000 / Double(denominator == 0 ? 100 : denominator)).rounded())
        (self.disposal, self.blending) = (disposal, blending)
    }
}

extension PNGAnimation {
    /// One pass over the chunks of a file.
    private struct Walk {
        private let size: PixelSize
        private let start: Int
        private var count = 0
        private var plays = 0
        private var sequence: UInt32 = 0
        private var frames: [Frame] = []
        private var hasPixels = false

        /// Nil if there are no frames but the default image.
        var animation: PNGAnimation? {
            guard let first = frames.first, frames.count > 1 || !first.isDefaultImage else { return nil }
            return PNGAnimation(size: size, frames: frames, plays: plays)
        }

        /// Nil for a still image.
        init?(_ file: ByteBuffer) {
            var rest = file
            start = file.readerIndex
            guard rest.readInteger(as: UInt64.self) == PNGContainer.signature, let header = rest.readPNGChunk(),
                header.type == PNGChunk.header, let width: UInt32 = header.fields.peekInteger(at: 0),
                let height: UInt32 = header.fields.peekInteger(at: 4)
            else { return nil }
            size = PixelSize(width: Int(width), height: Int(height))
            var last: UInt32?
            while let chunk = rest.readPNGChunk() {
                if chunk.type == PNGChunk.pixels, count == 0 { return nil }
                if chunk.type == PNGChunk.end || !reads(chunk, endingAt: rest.readerIndex - start) {
                    last = chunk.type
                    break
                }
            }
            dropIncompleteFrame(last ?? rest.peekInteger(at: 4))
        }

        /// Removes the last frame if its pixels are not complete.
        ///
        /// - Parameter type: of the last chunk, which has the first fault, is cut off, or is the end; nil = none.
        private mutating func dropIncompleteFrame(_ type: UInt32?) {
            if type == PNGChunk.pixels || type == PNGChunk.framePixels || frames.last?.pixels.isEmpty == true {
                _ = frames.popLast()
            }
        }

        /// - Returns: whether the animation is sound so far.
        private mutating func reads(_ chunk: PNGChunk, endingAt end: Int) -> Bool {
            switch chunk.type {
            case PNGChunk.animationControl: return readsControl(chunk)
            case PNGChunk.frameControl: return readsFrame(chunk)
            case PNGChunk.framePixels:
                guard hasPixels, let last = frames.indices.last, !frames[last].isDefaultImage, chunk.length >= 4,
                    takesNumber(of: chunk)
                else { return false }
                // A chunk may have no more than its number, beside others that have pixels.
                if chunk.length > 4 { addPixels(end - chunk.bytes.readableBytes..<end, to: last) }
            case PNGChunk.pixels:
                guard let last = frames.indices.last else { break }
                // Default image of the animation, which no other frame interrupts.
                guard last == 0, !hasPixels || frames[0].isDefaultImage else { return false }
                frames[0].isDefaultImage = true
                addPixels(end - chunk.bytes.readableBytes..<end, to: 0)
            default: break
            }
            if chunk.type == PNGChunk.pixels { hasPixels = true }
            return true
        }

        private mutating func readsControl(_ chunk: PNGChunk) -> Bool {
            // Of several, the first counts.
            if count > 0 { return true }
            guard !hasPixels, chunk.length == 8, chunk.isIntact,
                let frames: UInt32 = chunk.fields.peekInteger(at: 0),
                let plays: UInt32 = chunk.fields.peekInteger(at: 4), (1...Self.most).contains(frames),
                plays <= Self.most
            else { return false }
            (count, self.plays) = (Int(frames), Int(plays))
            return true
        }

        private mutating func readsFrame(_ chunk: PNGChunk) -> Bool {
            // A frame without pixels is left out.
            if hasPixels, frames.last?.pixels.isEmpty == true { frames.removeLast() }
            guard chunk.length == 26, takesNumber(of: chunk), frames.count < max(count, 1),
                frames.last?.pixels.isEmpty != true,
                let frame = Frame(ByteBuffer(chunk.content.dropFirst(4)), on: size),
                hasPixels || frames.isEmpty && frame.covers(size)
            else { return false }
            frames.append(frame)
            return true
        }

        /// Whether the number at the start of a chunk is the next one (§11.3.6.1).
        private mutating func takesNumber(of chunk: PNGChunk) -> Bool {
            guard chunk.fields.peekInteger(at: 0) == sequence, chunk.isIntact else { return false }
            sequence += 1
            return true
        }

        private mutating func addPixels(_ range: Range<Int>, to frame: Int) {
            let pixels = frames[frame].pixels
            frames[frame].pixels = pixels.isEmpty ? range : pixels.lowerBound..<range.upperBound
        }

        private static let most: UInt32 = 0x7FFF_FFFF
    }
}

extension PNGAnimation {
    /// The chunks in front of the pixels of each frame but the first: each chunk that changes colors, once and without
    /// excess.
    func colorChunks(of file: ByteBuffer) -> ByteBuffer {
        var chunks = ByteBuffer()
        var found: Set<UInt32> = []
        _ = PNGContainer.eachChunkBeforePixels(of: file) { chunk in
            guard PNGChunk.colors.contains(chunk.type), chunk.length <= PNGChunk.maxColorBytes,
                found.insert(chunk.type).inserted
            else { return }
            chunks.writeImmutableBuffer(chunk.bytes)
        }
        return chunks
    }

    /// A PNG of one frame.
    ///
    /// - Parameter colors: the chunks between header and pixels; nil = all chunks of the file that are no frames.
    func file(of frame: Frame, in file: ByteBuffer, colors: ByteBuffer?) -> ByteBuffer {
        var made = ByteBuffer()
        made.reserveCapacity(frame.pixels.count + 1024)
        made.writeInteger(PNGContainer.signature)
        var rest = file
        rest.moveReaderIndex(forwardBy: 8)
        if let header = rest.readPNGChunk() {
            var fields = ByteBuffer()
            fields.writeInteger(UInt32(clamping: frame.size.width))
            fields.writeInteger(UInt32(clamping: frame.size.height))
            fields.writeBytes(header.content.dropFirst(8))
            made.writePNGChunk(PNGChunk.header, fields.readableBytesView)
        }
        if let colors {
            made.writeImmutableBuffer(colors)
        } else {
            let frames = [PNGChunk.header, PNGChunk.animationControl, PNGChunk.frameControl, PNGChunk.framePixels]
            _ = PNGContainer.eachChunkBeforePixels(of: file) { chunk in
                if !frames.contains(chunk.type) { made.writeImmutableBuffer(chunk.bytes) }
            }
        }
        rest = file.getSlice(at: file.readerIndex + frame.pixels.lowerBound, length: frame.pixels.count) ?? ByteBuffer()
        while let chunk = rest.readPNGChunk() {
            if frame.isDefaultImage, chunk.type == PNGChunk.pixels {
                made.writeImmutableBuffer(chunk.bytes)
            } else if !frame.isDefaultImage, chunk.type == PNGChunk.framePixels {
                made.writePNGChunk(PNGChunk.pixels, chunk.content.dropFirst(4))
            }
        }
        made.writePNGChunk(PNGChunk.end, ByteBuffer().readableBytesView)
        return made
    }
}

extension PNGChunk {
    /// `acTL`, `fcTL` and `fdAT`.
    fileprivate static let animationControl: UInt32 = 0x6163_544C
    fileprivate static let frameControl: UInt32 = 0x6663_544C
    fileprivate static let framePixels: UInt32 = 0x6664_4154
    /// `PLTE`, `tRNS`, `gAMA`, `cHRM`, `sRGB`, `cICP`, `cLLI` and `mDCV`.
    fileprivate static let colors: Set<UInt32> = [
        palette, transparency, 0x6741_4D41, 0x6348_524D, 0x7352_4742, 0x6349_4350, 0x634C_4C49, 0x6D44_4356,
    ]

    /// The length of the largest palette.
    fileprivate static let maxColorBytes = 768

    fileprivate var fields: ByteBuffer { ByteBuffer(content) }
}

extension ByteBuffer {
    fileprivate func peekInteger(at offset: Int) -> UInt32? { getInteger(at: readerIndex + offset) }
}
