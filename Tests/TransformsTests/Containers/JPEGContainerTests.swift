import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct JPEGContainerTests {
    private static func fixture(_ name: String) throws -> JPEGFile { JPEGFile(try Fixture.image(name)) }

    private static let position = Array("Exif\0\0".utf8) + [9, 9]

    @Test(arguments: ["formats/photo.jpg", "formats/progressive.jpg", "color/grey.jpg", "hostile/late-header.jpg"])
    func `Segments that draw nothing are left out wherever they are`(_ name: String) throws {
        let bare = try #require(JPEGContainer.stripped(Fixture.image(name)))
        var file = JPEGFile(bare)
        let drawing = file.segments.map(\.marker)
        #expect(drawing.allSatisfy { [0xC0, 0xC2, 0xC4, 0xDB, 0xDD, 0xE0, 0xEE].contains($0) }, "\(drawing)")
        file.insert(0xE1, Self.position)
        for marker in UInt8(0xE0)...0xEF { file.insert(marker, Array("Private".utf8), at: file.segments.count / 2) }
        file.insert(0xFE, Array("Private".utf8), at: file.segments.count)
        let end = file.scans.count - 2
        file.scans.insert(contentsOf: JPEGFile.segment(0xFE, Array("Private".utf8)), at: end)
        let full = file.bytes.followed(by: Array("Private".utf8))
        let stripped = try #require(JPEGContainer.stripped(full))
        #expect(stripped == bare && !stripped.contains("Private"))
        #expect(try Pixels(stripped).samples == Pixels(Fixture.image(name)).samples)
    }

    @Test func `A comment between two scans is left out`() throws {
        let bare = try #require(JPEGContainer.stripped(Fixture.image("formats/progressive.jpg")))
        var file = JPEGFile(bare)
        let second = try #require(
            file.scans.indices.dropFirst(2).first { file.scans[$0...].starts(with: [0xFF, 0xC4]) })
        file.scans.insert(contentsOf: JPEGFile.segment(0xFE, [1, 2]), at: second)
        #expect(file.bytes != bare && JPEGContainer.stripped(file.bytes) == bare)
    }

    @Test func `JFIF keeps its density without its thumbnail`() throws {
        var file = try Self.fixture("formats/photo.jpg")
        file.segments.removeAll { $0.marker == 0xE0 }
        file.insert(0xE0, Array("JFIF\0".utf8) + [1, 2, 1, 0, 72, 0, 96, 1, 1, 7, 7, 7])
        file.insert(0xE0, Array("JFXX\0".utf8) + [0x13, 1, 1, 7, 7, 7], at: 1)
        let stripped = JPEGFile(try #require(JPEGContainer.stripped(file.bytes)))
        let all = stripped.segments.filter { $0.marker == 0xE0 }.map(\.content)
        #expect(all == [Array("JFIF\0".utf8) + [1, 2, 1, 0, 72, 0, 96, 0, 0]])
    }

    @Test func `Adobe's color transform stays, without what follows it`() throws {
        var file = try Self.fixture("formats/photo.jpg")
        file.segments.removeAll { $0.marker == 0xE0 }
        // Components that are no YCbCr: colors are wrong, and have to stay so.
        let adobe = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0]
        let plain = try Pixels(file.bytes)
        file.insert(0xEE, adobe + Array("Private".utf8))
        let stripped = try #require(JPEGContainer.stripped(file.bytes))
        #expect(JPEGFile(stripped).segments.first == JPEGFile.Segment(marker: 0xEE, content: adobe))
        let pixels = try Pixels(stripped).samples
        #expect(try pixels == Pixels(file.bytes).samples && pixels != plain.samples)
    }

    @Test func `Tables behind the last scan go, and fill bytes in front of markers`() throws {
        let bare = try #require(JPEGContainer.stripped(Fixture.image("formats/photo.jpg")))
        var file = JPEGFile(bare)
        file.scans.insert(contentsOf: JPEGFile.segment(0xDB, Array("Private".utf8)), at: file.scans.count - 2)
        #expect(JPEGContainer.stripped(file.bytes) == bare)
        var filled = Array(bare.readableBytesView)
        filled.insert(contentsOf: [0xFF, 0xFF], at: 2)
        #expect(JPEGContainer.stripped(ByteBuffer(bytes: filled)) == bare)
    }

    @Test(arguments: [
        "color/cmyk.jpg", "color/cmyk-profile.jpg", "hostile/truncated.jpg", "hostile/truncated-tail.jpg",
        "hostile/header-only.jpg", "hostile/truncated-progressive.jpg", "formats/photo.webp",
    ])
    func `A file that is not one whole image in one or three components is refused`(_ name: String) throws {
        #expect(JPEGContainer.stripped(try Fixture.image(name)) == nil)
    }

    @Test func `Unusual segments are refused`() throws {
        let good = try Self.fixture("formats/photo.jpg")
        #expect(JPEGContainer.stripped(good.bytes) != nil)
        let frame = try #require(good.segments.firstIndex { $0.marker == 0xC0 })
        let changes: [(inout JPEGFile) -> Void] = [
            { $0.segments[frame].marker = 0xC9 }, { $0.segments[frame].marker = 0xC3 },
            { $0.segments[frame].content[0] = 12 },
            { $0.segments[frame].content.replaceSubrange(1...2, with: [0, 0]) },
            { $0.segments[frame].content.append(0) }, { $0.segments.append($0.segments[frame]) },
            { $0.segments.remove(at: frame) }, { $0.insert(0xDC, [0, 9]) }, { $0.insert(0xDE, [0]) },
            { $0.insert(0xDD, [0, 1, 2]) }, { $0.insert(0xCC, [0, 0]) }, { $0.insert(0xD0, []) },
            { $0.insert(0xE0, $0.segments[0].content) }, { $0.scans[4] = 4 }, { $0.scans.removeLast() },
            { $0.scans.insert(0x11, at: 0) }, { $0.scans = [0xFF, 0xD9] }, { $0.scans = [0xFF] }, { $0.scans = [] },
            { $0.scans = [0xFF, 0xDA, 0, 1] }, { $0.scans = [0xFF, 0xFE, 0xFF, 0xFF, 0] },
        ]
        for (index, change) in changes.enumerated() {
            var file = good
            change(&file)
            #expect(JPEGContainer.stripped(file.bytes) == nil, "change \(index)")
        }
        for bytes: [UInt8] in [[], [0xFF], [0xFF, 0xD8], [0xFF, 0xD8, 0xFF], [0xFF, 0xD8, 0xFF, 0xD9]] {
            #expect(JPEGContainer.stripped(ByteBuffer(bytes: bytes)) == nil)
        }
    }

    @Test(arguments: [0, 1, 4093, 4094, 4095, 4096, 4097, 9000])
    func `The last marker is found however much follows it`(_ count: Int) {
        let following = [UInt8](repeating: 1, count: count)
        let (scan, end): ([UInt8], [UInt8]) = ([0xFF, 0xDA], [0xFF, 0xD9])
        #expect(JPEGContainer.hasEnd(ByteBuffer(bytes: [0xFF, 0xD8] + scan + end + following)))
        #expect(!JPEGContainer.hasEnd(ByteBuffer(bytes: [0xFF, 0xD8] + end + scan + following)))
    }

    @Test(arguments: [0, 0x41, 0xFF] as [UInt8])
    func `EXIF counts with any byte behind its name and the zero`(padding: UInt8) throws {
        let drawing = try Drawing.image(24, 16) { x, y in [UInt8(x), UInt8(y), 0] }
        var file = JPEGFile(try VipsSaver.jpeg.encode(drawing, ["Q": 90]))
        file.segments.removeAll { $0.marker == 0xE1 }
        // One entry: the orientation 6.
        let directory: [UInt8] = [1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]
        file.insert(0xE1, Array("Exif\0".utf8) + [padding] + Array("II*\0".utf8) + [8, 0, 0, 0] + directory)
        #expect(try SourceHeader(of: file.bytes).orientation == 6)
        #expect(try Pixels(produce(file.bytes).body).size == PixelSize(width: 16, height: 24))
    }
}
