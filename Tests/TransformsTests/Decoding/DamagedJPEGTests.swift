import NIOCore
import Testing

@testable import DarkroomTransforms

/// JPEGs without an end: shown if all pixels are there.
struct DamagedJPEGTests {
    private static let names = [
        "formats/photo.jpg", "formats/progressive.jpg", "color/grey.jpg", "color/cmyk.jpg", "geometry/7x5.jpg",
    ]

    private func cut(_ file: ByteBuffer, by count: Int) -> ByteBuffer {
        file.getSlice(at: file.readerIndex, length: file.readableBytes - count) ?? file
    }

    @Test(arguments: names)
    func `A JPEG that lacks only its end marker is shown, at every size`(_ name: String) throws {
        let whole = try Fixture.image(name)
        #expect(whole.readableBytesView.suffix(2).elementsEqual([0xFF, 0xD9]))
        for width in [nil, 50, 3] {
            let expected = try produce(whole, .box(width))
            for count in [1, 2] {
                let damaged = cut(whole, by: count)
                let (result, whole) = (try Pixels(produce(damaged, .box(width)).body), try Pixels(expected.body))
                #expect(result.size == whole.size)
                // It is decoded at full size, so that it may be sharper.
                #expect(result.meanDistance(to: whole) <= (width == nil ? 0 : 5), "\(width ?? 0)")
            }
        }
    }

    @Test(arguments: names)
    func `A JPEG that lacks pixels is corrupt, at every size`(_ name: String) throws {
        let whole = try Fixture.image(name)
        for width in [nil, 50] {
            for count in [12, 40, 200, whole.readableBytes / 2] where count < whole.readableBytes / 2 + 1 {
                #expect(throws: ImageProcessingError.self, "\(count)") {
                    try produce(cut(whole, by: count), .box(width))
                }
            }
        }
    }

    @Test func `A progressive JPEG that lacks whole scans is corrupt`() throws {
        let whole = try Fixture.image("formats/progressive.jpg")
        let bytes = whole.readableBytesView
        let scans = bytes.indices.filter { bytes[$0] == 0xFF && $0 + 1 < bytes.endIndex && bytes[$0 + 1] == 0xDA }
        for start in scans.dropFirst() {
            let damaged = ByteBuffer(bytes: bytes[..<start])
            #expect(JPEGContainer.withEnd(damaged) == nil)
            #expect(throws: ImageProcessingError.self) { try produce(damaged) }
        }
    }

    @Test func `A JPEG with an end is not changed, whatever follows it`() throws {
        for name in Self.names + ["hostile/trailing-junk.jpg"] {
            let whole = try Fixture.image(name)
            #expect(JPEGContainer.withEnd(whole) == nil)
            #expect(JPEGContainer.withEnd(whole.followed(by: [0, 0xFF, 0xDA, 1, 2])) == nil)
        }
    }
}
