import DarkroomCVips
import NIOCore
import Testing

@testable import DarkroomVips

/// libvips' vector code stores whole vectors. What it stores behind the last pixel must lie within the bytes that an
/// image in memory has to spare.
struct SpareMemoryTests {
    /// Behind these bytes of the spare ones, nothing may change: libvips would soon reach the memory of others.
    private static let usable = 48

    @Test(arguments: [1, 2, 3, 4])
    func `No operation writes beyond the spare bytes behind an image`(bands: Int) throws {
        for width in Array(1...40) + [63, 64, 65, 127, 128, 129] {
            let source = try Self.image(width: 3 * width, height: 6, bands: bands)
            let results = try Self.operations.map { name, arguments in try source.applying(name, arguments) }
            for (number, result) in results.enumerated() {
                let written = try Self.bytesWritten(behind: result)
                #expect(
                    written <= Self.usable,
                    "\(Self.operations[number].0), \(width) pixels of \(bands) bands: \(written)")
            }
        }
    }

    @Test func `An image in memory has bytes to spare, however small it is`() throws {
        for (width, height) in [(1, 1), (1, 1_000_000), (7, 3), (64, 2), (4_000, 1)] {
            let source = try Self.image(width: width, height: 1, bands: 1)
            let memory = try #require(vips_image_new_memory())
            defer { g_object_unref(memory) }
            try #require(darkroom_allocate(source.pointer, memory, Int32(height)) == 0)
            #expect(memory.pointee.Ysize == height && memory.pointee.Xsize == width)
            let data = try #require(memory.pointee.data)
            // Whole rows are allocated; a tool that checks memory sees a write beyond them.
            data.advanced(by: width * height).update(repeating: 7, count: Int(DARKROOM_SPARE_BYTES))
        }
    }

    private static let operations: [(String, KeyValuePairs<String, VipsValue>)] = [
        ("reduceh", ["hshrink": 2.9]), ("reducev", ["vshrink": 2.3]), ("shrinkh", ["hshrink": 3]),
        ("shrinkv", ["vshrink": 2]), ("resize", ["scale": 0.34]), ("gaussblur", ["sigma": 1.5]), ("sharpen", [:]),
        ("cast", ["format": "ushort"]), ("linear", ["a": .doubles([1.5]), "b": .doubles([3])]),
        ("conv", ["mask": .image(.matrix([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]))]),
        ("affine", ["matrix": .doubles([0.7, 0.1, -0.1, 0.7])]), ("flip", ["direction": "horizontal"]),
    ]

    private static func image(width: Int, height: Int, bands: Int) throws -> DarkroomVips.VipsImage {
        let samples = (0..<(width * height * bands)).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        return try DarkroomVips.VipsImage.fromBytes(samples, width: width, height: height, bands: bands)
            .applying("copy", ["interpretation": bands < 3 ? "b-w" : "srgb"]).rendered()
    }

    /// Renders a lazy image as the library does. Returns how many bytes behind its last pixel it reached.
    private static func bytesWritten(behind image: DarkroomVips.VipsImage) throws -> Int {
        let spare = Int(DARKROOM_SPARE_BYTES)
        let memory = try #require(vips_image_new_memory())
        defer { g_object_unref(memory) }
        try #require(darkroom_allocate(image.pointer, memory, Int32(image.height)) == 0)
        let end = try #require(memory.pointee.data).advanced(by: image.byteCount)
        end.update(repeating: 0xA5, count: spare)
        try #require(darkroom_render(image.pointer, memory, 0, nil, nil) == 0)
        return (0..<spare).last { end[$0] != 0xA5 }.map { $0 + 1 } ?? 0
    }
}
