import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Images that differ more from pixel to pixel than the bytes of their files suggest.
struct PixelDetailTests {
    private static let side = 256

    /// Gray noise that repeats each 16 pixels, with constant or equally noisy alpha.
    private static func noise(alpha: Bool? = nil) throws -> VipsImage {
        try Drawing.image(side, side) { x, y in
            let value = UInt8(truncatingIfNeeded: (((x & 15) * 16 + (y & 15)) &* 2_654_435_761) >> 13)
            let gray = [value, value, value]
            return alpha.map { gray + [$0 ? value : 200] } ?? gray
        }
    }

    private static func detail(_ image: VipsImage, isLossless: Bool = false) throws -> PixelDetail {
        try PixelDetail(of: image, isLossless: isLossless)
    }

    @Test func `Plain images have no detail, and noise has the most`() throws {
        #expect(try Self.detail(Drawing.flat(64, 48, [9, 90, 200])) == PixelDetail(color: 0, alpha: 0))
        #expect(try Self.detail(Self.noise()).color > 0.95)
        #expect(try Self.detail(Self.noise(alpha: false)).alpha == 0)
        #expect(try Self.detail(Self.noise(alpha: true)).alpha > 0.95)
    }

    @Test func `Tiles have the detail of their edges, wherever they lie`() throws {
        for shift in [0, 3] {
            let tiles = try Drawing.image(64, 64) { x, y in
                let isWhite = ((x + shift) / 8 + (y + shift) / 8) % 2 == 0
                return isWhite ? [255, 255, 255] : [0, 0, 0]
            }
            #expect(try Self.detail(tiles).color > 0.9)
        }
    }

    @Test func `Small differences count without loss only`() throws {
        let faint = try Drawing.image(64, 64) { x, y in Array(repeating: UInt8(100 + (x * 7 + y * 3) % 9), count: 3) }
        #expect(try Self.detail(faint).color < 0.2)
        #expect(try Self.detail(faint, isLossless: true).color > 0.9)
    }

    @Test func `An image that is not examined is taken for noise`() throws {
        let wide = try Drawing.flat(8, 8, [1, 2, 3]).applying("cast", ["format": "ushort"])
        #expect(try Self.detail(wide) == .most)
    }

    /// The effort for an image whose encoding is expected to take so many nanoseconds for each pixel.
    private static func effort(
        _ image: VipsImage, expecting nanoseconds: Double, isLossless: Bool = false, screen: Bool = false
    ) throws -> Int {
        let encoder = Encoder(
            OutputOptions(format: .avif, lossless: isLossless), format: .avif,
            efforts: EncoderEfforts(avif: 2), encodingWork: nanoseconds * Double(image.width * image.height) / 1e6
        ) { false }
        return try encoder.affordableEfforts(EncoderEfforts(avif: screen ? 1 : 2), for: image).avif
    }

    @Test func `Noise is encoded with less effort if little was expected of it, and a plain image is not`() throws {
        let (noise, plain) = (try Self.noise(), try Drawing.flat(Self.side, Self.side, [9, 90, 200]))
        let efforts = try [700, 300, 120, 1].map { try Self.effort(noise, expecting: $0) }
        #expect(efforts == [2, 1, 0, 0])
        #expect(try [700, 300, 120].map { try Self.effort(plain, expecting: $0) } == [2, 2, 2])
        #expect(try Self.effort(noise, expecting: 0) == 2)
        #expect(try Self.effort(noise, expecting: 700, isLossless: true) == 2)
        #expect(try Self.effort(noise, expecting: 500, isLossless: true) == 1)
        // Few tones take less than noise at the effort that they are encoded with.
        #expect(try Self.effort(noise, expecting: 200, screen: true) == 1)
    }

    @Test func `Noise in the alpha channel counts in addition`() throws {
        #expect(try Self.effort(Self.noise(alpha: false), expecting: 480) == 2)
        #expect(try Self.effort(Self.noise(alpha: true), expecting: 480) == 1)
    }

    @Test func `A small file of noise that repeats is encoded as its plan expects, and a photograph at its effort`()
        throws
    {
        func bytes(_ source: ByteBuffer, _ effort: Int) throws -> ByteBuffer {
            let job = ImageJob(
                source: source, chain: TransformChain(), output: OutputOptions(format: .avif),
                efforts: EncoderEfforts(avif: effort))
            return try InProcessImageProcessor().process(job) { false }.body
        }
        let (noise, photograph) = (try Self.noise().png(), try Fixture.image("formats/photo.jpg"))
        #expect(try bytes(noise, 2) == bytes(noise, 0))
        #expect(try bytes(photograph, 2) != bytes(photograph, 0))
    }
}
