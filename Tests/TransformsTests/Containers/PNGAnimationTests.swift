import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

struct PNGAnimationTests {
    private static let red: [UInt8] = [200, 0, 0, 255]
    private static let green: [UInt8] = [0, 200, 0, 255]
    private static let blue: [UInt8] = [0, 0, 200, 255]

    private func animation(hidden: [UInt8]? = nil) throws -> PNGFile {
        try AnimatedPNG(
            frames: [.init(color: Self.red), .init(x: 1, y: 2, side: 2, color: Self.green)], hidden: hidden
        ).file()
    }

    @Test func `Frames have their place, their delay and their rules`() throws {
        let file = try AnimatedPNG(
            frames: [
                .init(color: Self.red, delay: (1, 0), disposal: .background),
                .init(x: 1, y: 2, side: 2, color: Self.green, delay: (1, 30), disposal: .previous, blending: .over),
            ], plays: 7
        ).file()
        let found = try #require(PNGAnimation(in: file.bytes))
        #expect(found.size == PixelSize(width: 4, height: 4) && found.plays == 7)
        #expect(found.frames.map(\.delay) == [10, 33] && found.frames.map(\.isDefaultImage) == [true, false])
        #expect(found.frames.map(\.disposal) == [.background, .previous])
        #expect(found.frames[1].x == 1 && found.frames[1].y == 2 && found.frames[1].size.width == 2)
        #expect(found.frames.map(\.blending) == [.source, .over] && found.clearsPixels)
    }

    @Test func `An image without a control chunk, or with nothing but the default image, is a still image`() throws {
        #expect(PNGAnimation(in: try Fixture.image("color/palette.png")) == nil)
        #expect(PNGAnimation(in: try AnimatedPNG(frames: [.init(color: Self.red)]).file().bytes) == nil)
        let hidden = try AnimatedPNG(frames: [.init(color: Self.red)], hidden: Self.blue).file().bytes
        #expect(PNGAnimation(in: hidden)?.frames.count == 1)
    }

    private static let damages: [(name: String, change: @Sendable (inout PNGFile) -> Void)] = [
        ("no frames", { $0["acTL"].replaceSubrange(0..<4, with: [0, 0, 0, 0]) }),
        ("2^31 frames", { $0["acTL"].replaceSubrange(0..<4, with: [0x80, 0, 0, 0]) }),
        ("fewer frames than there are", { $0["acTL"][3] = 1 }),
        ("a short control", { $0["acTL"].removeLast() }),
        ("a short frame control", { $0["fcTL"].removeLast() }),
        ("a frame outside of the canvas", { $0.lastFrame[15] = 3 }),
        ("a frame far outside of the canvas", { $0.lastFrame.replaceSubrange(12..<16, with: [255, 255, 255, 255]) }),
        ("a frame without width", { $0.lastFrame[7] = 0 }),
        ("a first frame that is smaller than the default image", { $0["fcTL"][7] = 3 }),
        ("an unknown disposal", { $0.lastFrame[24] = 3 }), ("an unknown blending", { $0.lastFrame[25] = 2 }),
        ("a gap in the sequence", { $0.lastFrame[3] = 2 }), ("pixels out of sequence", { $0["fdAT"][3] = 7 }),
        ("a frame without pixels", { $0.chunks.removeAll { $0.type == "fdAT" } }),
        ("pixels without a frame", { file in file.chunks.removeAll { $0.type == "fcTL" } }),
        ("pixels before the default image", { $0.insert("fdAT", [0, 0, 0, 1, 0], before: "IDAT") }),
        ("empty pixels", { $0["fdAT"] = [0, 0, 0, 2] }),
    ]

    @Test func `Damage behind the default image, or before any frame, leaves a still image`() throws {
        let sound = try animation()
        #expect(try SourceHeader(of: sound.bytes).frames == 2)
        for (name, change) in Self.damages {
            var file = sound
            change(&file)
            #expect(PNGAnimation(in: file.bytes) == nil, "\(name)")
            let result = try produce(file.bytes, output: OutputOptions(format: .webp, lossless: true))
            #expect(result.frames == 1, "\(name)")
            #expect(try Pixels(result.body)[1, 2].prefix(3) == [200, 0, 0], "\(name)")
        }
        for length in sound.bytes.readableBytesView.indices.dropLast(12) {
            #expect(PNGAnimation(in: ByteBuffer(bytes: sound.bytes.readableBytesView.prefix(length))) == nil)
        }
        var wrong = sound.bytes
        let place = wrong.writerIndex - 30
        wrong.setInteger(~wrong.readableBytesView[place], at: place)
        #expect(PNGAnimation(in: wrong) == nil)
    }

    @Test func `The frames before a fault are shown, and the default image if there are none`() throws {
        let sound = try animation(hidden: Self.blue)
        #expect(PNGAnimation(in: sound.bytes)?.frames.count == 2)
        let controls = sound.chunks.indices.filter { sound.chunks[$0].type == "fcTL" }
        let pixels = sound.chunks.indices.filter { sound.chunks[$0].type == "fdAT" }
        for (place, frames) in [(controls[0], 0), (pixels[0], 0), (controls[1], 1), (pixels[1], 1)] {
            var file = sound
            // The last byte of the sequence number.
            file.chunks[place].content[3] += 1
            #expect(PNGAnimation(in: file.bytes)?.frames.count ?? 0 == frames)
            let color = try Pixels(produce(file.bytes).body)[0, 0].prefix(3)
            #expect(color == (frames == 0 ? [0, 0, 200] : [200, 0, 0]))
        }
        var (repeated, longer) = (sound, sound)
        repeated.insert("acTL", sound["acTL"], before: "acTL")
        #expect(PNGAnimation(in: repeated.bytes)?.frames.count == 2)
        longer["acTL"] = [0x7F, 255, 255, 255] + sound["acTL"].dropFirst(4)
        #expect(PNGAnimation(in: longer.bytes)?.frames.count == 2)
    }

    @Test func `A frame without pixels before another frame is left out`() throws {
        var file = try animation(hidden: Self.blue)
        let pixels = try #require(file.chunks.firstIndex { $0.type == "fdAT" })
        file.chunks.remove(at: pixels)
        for index in file.chunks.indices.dropFirst(pixels) where ["fcTL", "fdAT"].contains(file.chunks[index].type) {
            file.chunks[index].content[3] -= 1
        }
        #expect(PNGAnimation(in: file.bytes)?.frames.map(\.x) == [1])
        let shown = try Pixels(produce(file.bytes).body)
        #expect(shown[0, 0][3] == 0 && shown[1, 2] == [0, 200, 0, 255])
    }

    @Test func `A chunk without pixels among others of a frame does not end the animation`() throws {
        var file = try animation(hidden: Self.blue)
        file.insert("fdAT", [0, 0, 0, 4], before: "IEND")
        #expect(PNGAnimation(in: file.bytes)?.frames.count == 2)
        #expect(try Pixels(produce(file.bytes).body)[0, 0].prefix(3) == [200, 0, 0])
    }

    @Test func `Damaged pixels of a frame show the default image, and only the first frame if that is asked for`()
        throws
    {
        var file = try animation(hidden: Self.blue)
        let last = try #require(file.chunks.lastIndex { $0.type == "fdAT" })
        file.chunks[last].content = Array(file.chunks[last].content.prefix(9))
        let result = try produce(file.bytes, output: OutputOptions(format: .webp, lossless: true))
        #expect(result.frames == 1)
        #expect(try Pixels(result.body)[0, 0].prefix(3) == [0, 0, 200])
        #expect(try Pixels(produce(file.bytes).body)[0, 0].prefix(3) == [200, 0, 0])
    }

    @Test func `A wrong checksum of a chunk of the default image shows it, since its pixels are right`() throws {
        var file = try animation(hidden: Self.blue).bytes
        let bytes = Array(file.readableBytesView)
        let type = try #require(bytes.indices.first { bytes[$0...].starts(with: "IDAT".utf8) })
        let length = try #require(file.getInteger(at: type - 4, as: UInt32.self))
        let checksum = type + 4 + Int(length)
        file.setInteger(~bytes[checksum], at: checksum)
        let result = try produce(file, output: OutputOptions(format: .webp, lossless: true))
        #expect(result.frames == 1 && !result.isDamaged)
        #expect(try Pixels(result.body)[0, 0].prefix(3) == [0, 0, 200])
    }

    @Test func `A stripped file never shows another image than the animation`() throws {
        #expect(PNGContainer.stripped(try animation().bytes) == nil)
        #expect(PNGContainer.stripped(try animation(hidden: Self.blue).bytes) == nil)
    }
}

extension PNGFile {
    /// The content of the first chunk of a type.
    fileprivate subscript(type: String) -> [UInt8] {
        get { chunks.first { $0.type == type }?.content ?? [] }
        set {
            guard let index = chunks.firstIndex(where: { $0.type == type }) else { return }
            chunks[index].content = newValue
        }
    }

    /// The content of the last frame control.
    fileprivate var lastFrame: [UInt8] {
        get { chunks.last { $0.type == "fcTL" }?.content ?? [] }
        set {
            guard let index = chunks.lastIndex(where: { $0.type == "fcTL" }) else { return }
            chunks[index].content = newValue
        }
    }
}
