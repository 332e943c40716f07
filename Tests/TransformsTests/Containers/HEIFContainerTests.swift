import NIOCore
import Testing

@testable import DarkroomTransforms

struct HEIFContainerTests {
    @Test(arguments: ["formats/alpha.avif", "formats/photo.heic", "formats/thumbnail.heic", "formats/primary.heic"])
    func `The items of a file are read`(_ name: String) throws {
        let container = try #require(HEIFContainer(of: Fixture.image(name)))
        #expect(["av01", "hvc1", "grid"].contains(container.types[container.primary] ?? "-"))
        #expect(!container.properties(of: container.primary).isEmpty)
        #expect(!container.isPremultiplied)
    }

    @Test func `Code points count only without an ICC profile`() throws {
        #expect(try HEIFContainer(of: Fixture.image("color/icc-swap.avif"))?.color == nil)
        let stated = try #require(HEIFContainer(of: Fixture.image("formats/photo.avif"))?.color)
        #expect(stated.primaries <= 12 && stated.transfer <= 18 && stated.matrix <= 14)
    }

    @Test func `The alpha channel of the primary item is found`() throws {
        let container = try #require(HEIFContainer(of: Fixture.image("formats/alpha.avif")))
        #expect(container.alpha(of: container.primary) != nil)
        let opaque = try #require(HEIFContainer(of: Fixture.image("formats/photo.avif")))
        #expect(opaque.alpha(of: opaque.primary) == nil)
    }

    @Test func `Sizes and counts that the file does not have are refused`() throws {
        let file = try Fixture.image("formats/alpha.avif")
        // A `colr` box of 4 GB, an `iref` with 65,535 targets, and as many associations.
        for (name, offset, bytes) in [
            ("colr", -4, [0xFF, 0xFF, 0xFF, 0xFF]), ("auxl", 6, [0xFF, 0xFF]),
            ("ipma", 8, [0xFF, 0xFF, 0xFF, 0xFF]),
        ] as [(String, Int, [UInt8])] {
            let start = try #require(file.readableBytesView.firstRange(of: Array(name.utf8)).map(\.lowerBound))
            var changed = file
            changed.setBytes(bytes, at: start + offset)
            #expect(HEIFContainer(of: changed) == nil, "\(name)")
        }
        for length in 0..<file.readableBytes {
            _ = HEIFContainer(of: ByteBuffer(bytes: file.readableBytesView.prefix(length)))
        }
    }
}
