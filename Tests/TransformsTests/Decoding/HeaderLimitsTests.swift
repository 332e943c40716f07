import NIOCore
import Testing

@testable import DarkroomTransforms

/// Files with so many parts that decoders take long to read their header.
struct HeaderLimitsTests {
    private func isTooLarge(_ source: ByteBuffer) -> Bool {
        do {
            _ = try SourceHeader(of: source)
            return false
        } catch {
            guard case .tooLarge = error else { return false }
            return true
        }
    }

    private func segments(_ source: ByteBuffer) -> JPEGContainer.Segments {
        JPEGContainer.Segments.counted(in: source, atMost: HeaderLimits.maxSegments)
    }

    private static let empty = JPEGFile.Segment(marker: 0xE1, content: [])

    @Test func `A JPEG of more segments than the limit is too large`() throws {
        var file = JPEGFile(try Fixture.image("formats/photo.jpg"))
        // The start of the scan counts too.
        let missing = HeaderLimits.maxSegments - file.segments.count - 1
        file.segments.insert(contentsOf: Array(repeating: Self.empty, count: missing), at: 0)
        #expect(segments(file.bytes).count == HeaderLimits.maxSegments && !isTooLarge(file.bytes))
        file.insert(0xE1, [])
        #expect(isTooLarge(file.bytes))
    }

    @Test func `Segments count between the scans of a progressive JPEG, and not after a single scan`() throws {
        let many = Array(repeating: Self.empty, count: HeaderLimits.maxSegments).flatMap {
            JPEGFile.segment($0.marker, $0.content)
        }
        var progressive = JPEGFile(try Fixture.image("formats/progressive.jpg"))
        #expect(segments(progressive.bytes).scans == 10)
        #expect(try SourceHeader(of: progressive.bytes).scans == 10)
        let second = try #require(
            progressive.scans.indices.dropFirst(2).first { progressive.scans[$0...].starts(with: [0xFF, 0xC4]) })
        progressive.scans.insert(contentsOf: many, at: second)
        #expect(isTooLarge(progressive.bytes))
        var single = JPEGFile(try Fixture.image("formats/photo.jpg"))
        single.scans.insert(contentsOf: many, at: single.scans.count - 2)
        let counted = segments(single.bytes)
        #expect(counted.scans == 1 && counted.count == single.segments.count + 1 && !isTooLarge(single.bytes))
    }

    @Test func `Bytes between segments hide none, and markers without a segment count as none`() throws {
        let file = try Fixture.image("formats/progressive.jpg")
        let expected = segments(file)
        for between: [UInt8] in [[0x11, 0], [0xFF], [0xFF, 0, 0x11], [0xFF, 0xD0, 0xFF, 0xD7], [0xFF, 1]] {
            var bytes = Array(file.readableBytesView)
            bytes.insert(contentsOf: between, at: 2)
            let found = segments(ByteBuffer(bytes: bytes))
            #expect(found.count == expected.count && found.scans == expected.scans, "\(between)")
        }
        // A length of less than its own two bytes is taken as two.
        var short = Array(file.readableBytesView)
        short.insert(contentsOf: [0xFF, 0xE1, 0, 0], at: 2)
        #expect(segments(ByteBuffer(bytes: short)).count == expected.count + 1)
        for length in [2, 3, 4, 5, 6, 30, 700, file.readableBytes - 1] {
            let cut = segments(ByteBuffer(bytes: file.readableBytesView.prefix(length)))
            #expect(cut.count <= expected.count, "\(length)")
        }
    }

    @Test func `A WebP of more frames than the limit is too large, also if they lie within a frame`() throws {
        var file = WebPFile(try Fixture.image("animation/disposal.webp"))
        let index = try #require(file.chunks.firstIndex { $0.name == "ANMF" })
        let (frame, count) = (file.chunks[index], file.chunks.filter { $0.name == "ANMF" }.count)
        #expect(WebPContainer.frames(in: file.bytes, atMost: HeaderLimits.maxFrames) == count)
        var nested = file
        nested.chunks[index].content += Array(repeating: frame.bytes, count: HeaderLimits.maxFrames).flatMap(\.self)
        #expect(isTooLarge(nested.bytes))
        file.chunks += Array(repeating: frame, count: HeaderLimits.maxFrames - count)
        #expect(!isTooLarge(file.bytes))
        file.chunks.append(frame)
        #expect(isTooLarge(file.bytes))
    }

    @Test func `A PNG of more compressed text before its pixels than the limit is read without it`() throws {
        let plain = PNGFile(try Fixture.image("color/palette.png"))
        func file(compressed: [UInt8], international: [UInt8], before type: String = "IDAT") -> ByteBuffer {
            var file = plain
            file.insert("zTXt", compressed, before: type)
            file.insert("iTXt", international, before: type)
            return file.bytes
        }
        let half = PNGContainer.maxTextBytes / 2
        let key = Array("Title".utf8) + [0]
        let text = key + [UInt8](repeating: 0, count: half - key.count)
        let flagged = key + [1] + [UInt8](repeating: 0, count: half - key.count - 1)
        let limit = file(compressed: text, international: flagged)
        #expect(PNGContainer.readable(limit) == limit)
        let over = file(compressed: text + [0], international: flagged)
        #expect(PNGContainer.readable(over) == plain.bytes)
        #expect(try produce(over).body == produce(plain.bytes).body)
        let icon = BitmapFile.icon([Array(over.readableBytesView)])
        #expect(try SourceReader(of: icon, .ico).bytes == plain.bytes)
        // Without the flag, the text is not compressed.
        let uncompressed = file(compressed: text, international: text + [0])
        #expect(PNGContainer.readable(uncompressed) == uncompressed)
        let behind = file(compressed: text + [0], international: flagged, before: "IEND")
        #expect(PNGContainer.readable(behind) == behind)
    }

    @Test func `A profile of up to 4 MiB is used, and an image with a longer one is read without it`() throws {
        let file = WebPFile(try Fixture.image("color/icc-swap.webp"))
        let index = try #require(file.chunks.firstIndex { $0.name == "ICCP" })
        var bare = file
        bare.chunks.remove(at: index)
        bare.chunks[0].content[0] &= ~0x20
        func padded(to length: Int) -> ByteBuffer {
            var padded = file
            padded.chunks[index].content += [UInt8](
                repeating: 0, count: length - file.chunks[index].content.count)
            return padded.bytes
        }
        let (used, ignored) = (padded(to: SourceReader.maxProfileBytes), padded(to: SourceReader.maxProfileBytes + 1))
        #expect(try SourceHeader(of: used).conversionCost != TransformCost.none)
        #expect(try SourceHeader(of: ignored).conversionCost == TransformCost.none)
        let (converted, plain) = (try Pixels(produce(file.bytes).body), try Pixels(produce(bare.bytes).body))
        #expect(converted.samples != plain.samples)
        #expect(try Pixels(produce(used).body).samples == converted.samples)
        #expect(try Pixels(produce(ignored).body).samples == plain.samples)
    }
}
