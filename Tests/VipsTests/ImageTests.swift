import NIOCore
import Synchronization
import Testing

import func DarkroomCVips.vips_tracked_get_mem

@testable import DarkroomVips

struct ImageTests {
    private func grey(_ width: Int, _ height: Int, _ value: UInt8 = 7) throws -> VipsImage {
        try VipsImage.fromBytes(Array(repeating: value, count: width * height), width: width, height: height, bands: 1)
    }

    @Test func `Operations run by name, whatever the name of their input`() throws {
        let image = try grey(20, 10)
        #expect(try image.applying("invert").pixel(x: 0, y: 0) == [248])
        let area = try image.applying("extract_area", ["left": 5, "top": 2, "width": 4, "height": 3])
        #expect((area.width, area.height) == (4, 3))
        #expect(try image.combining("add", with: image).average() == 14)
        let trimmed = try image.measuring(
            "find_trim", ["threshold": 1, "background": .doubles([0])], ints: ["width", "height"])
        #expect(trimmed == [20, 10])
    }

    @Test func `A wrong name, argument or value is an error with libvips' text`() throws {
        let image = try grey(4, 4)
        #expect(throws: VipsError.self) { try image.applying("no_such_operation") }
        #expect(throws: VipsError.self) { try image.applying("invert", ["color": 1]) }
        #expect(throws: VipsError.self) { try image.applying("flip", ["direction": "sideways"]) }
        let error = #expect(throws: VipsError.self) {
            try image.applying("extract_area", ["left": 9, "top": 9, "width": 9, "height": 9])
        }
        #expect(error?.operation == "extract_area")
        #expect(error?.message.isEmpty == false)
    }

    @Test func `Rendering brings back no field of EXIF that was removed`() throws {
        let fields = ["exif-ifd0-Artist": "Zoe (ASCII)", "exif-ifd3-GPSLatitudeRef": "N (ASCII)"]
        let file = try VipsSaver.jpeg.encode(grey(8, 8).setting(ints: ["orientation": 6], texts: fields))
        try VipsLoader.jpeg.withImage(of: file) { image throws(VipsError) in
            let removed = ["exif-ifd3-GPSLatitudeRef", "exif-ifd0-Orientation", "orientation"]
            #expect(removed.allSatisfy(image.has))
            let rendered = try image.setting(removing: removed).rendered()
            #expect(!removed.contains(where: rendered.has) && rendered.has("exif-data"))
        }
    }

    @Test func `Bytes that do not fit their size are refused`() {
        #expect(throws: VipsError.self) { try VipsImage.fromBytes([1, 2, 3], width: 2, height: 2, bands: 1) }
    }

    @Test func `Fields are set on a copy and read back by type`() throws {
        let image = try grey(4, 4)
        let marked = try image.setting(ints: ["orientation": 6], arrays: ["delay": [10, 20]], texts: ["owner": "me"])
        #expect(marked.int("orientation") == 6)
        #expect(marked.ints("delay") == [10, 20])
        #expect(marked.text("owner") == "me")
        #expect(marked.int("owner") == nil && marked.ints("orientation") == nil && marked.blob("owner") == nil)
        #expect(!image.has("orientation"))
        #expect(try !marked.setting(removing: ["owner"]).has("owner"))
    }

    @Test func `Rendering stops when interrupted`() throws {
        let asked = Mutex(0)
        let lazy = try VipsImage.build("black", ["width": 2000, "height": 4000]).applying("gaussblur", ["sigma": 5])
        #expect(throws: VipsError.self) {
            try lazy.rendered {
                asked.withLock {
                    $0 += 1
                    return $0 > 3
                }
            }
        }
        #expect(asked.withLock(\.self) < 40)
        #expect(try lazy.rendered { false }.height == 4000)
    }

    @Test func `Bands that were joined are taken apart without an operation`() throws {
        let (color, alpha) = (
            try VipsImage.joiningBands([grey(4, 3, 1), grey(4, 3, 2), grey(4, 3, 3)])
                .applying("copy", ["interpretation": "srgb"]), try grey(4, 3, 200)
        )
        let joined = try VipsImage.joiningBands([color, alpha])
        #expect(joined.isJoined && !color.isJoined)
        #expect(try joined.band(0, count: 3) === color)
        #expect(try joined.band(3).pixel(x: 1, y: 1) == [200])
        // Whatever else is asked for is computed.
        #expect(try joined.band(1).pixel(x: 0, y: 0) == [2])
        #expect(try joined.band(2, count: 2).pixel(x: 0, y: 0) == [3, 200])
        // As libvips has it, which fills up a smaller image and names the color space of the whole.
        #expect(try joined.band(3).interpretation == joined.applying("extract_band", ["band": 3]).interpretation)
        #expect(try !VipsImage.joiningBands([color, grey(2, 2)]).isJoined)
        #expect(try VipsImage.joiningBands([color, grey(2, 2)]).band(3).width == 4)
    }

    @Test func `Stacked images keep every row, however they are computed`() throws {
        let (width, height) = (40, 60)
        let samples = (0..<width * height * 3).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let image = try VipsImage.fromBytes(samples, width: width, height: height, bands: 3)
        let inverted = samples.map { ~$0 }
        for _ in 0..<20 {
            let lazy = try (0..<5).map { _ in try image.applying("invert") }
            let stack = try VipsImage.stacked(lazy)
            #expect(stack.height == 5 * height)
            #expect(
                Array(try stack.samples().readableBytesView) == Array(repeating: inverted, count: 5).flatMap(\.self))
        }
    }

    @Test func `Images of different shapes are not stacked`() throws {
        let image = try VipsImage.build("black", ["width": 4, "height": 4])
        for other in [["width": 5, "height": 4], ["width": 4, "height": 5], ["width": 4, "height": 4, "bands": 3]]
            as [KeyValuePairs<String, VipsValue>]
        {
            #expect(throws: VipsError.self) { try VipsImage.stacked([image, VipsImage.build("black", other)]) }
        }
        #expect(throws: VipsError.self) {
            try VipsImage.stacked([image, image.applying("cast", ["format": "ushort"])])
        }
        #expect(throws: VipsError.self) { try VipsImage.stacked([]) }
    }

    @Test func `A rotation is computed in squares, with the pixels of libvips' own sink`() throws {
        let zone = try VipsImage.build("zone", ["width": 300, "height": 260, "uchar": true])
            .applying("bandjoin_const", ["c": .doubles([120, 250])]).rendered()
        let rotated = try zone.applying("affine", ["matrix": .doubles([0.87, -0.5, 0.5, 0.87])])
        for image in [rotated, try rotated.applying("reduceh", ["hshrink": 1.3]), zone] {
            let squares = Mutex(0)
            let pixels = try image.applying("invert").rendered {
                squares.withLock { $0 += 1 }
                return false
            }
            #expect(try pixels.samples() == image.applying("invert").samples())
            let strips = (image.height + 15) / 16
            let across = (image.width + 127) / 128
            #expect(squares.withLock { $0 } == (image.height == 260 ? strips : across * ((image.height + 127) / 128)))
        }
    }

    @Test func `Encoding stops when interrupted`() throws {
        func lazy() throws -> VipsImage {
            try VipsImage.build("black", ["width": 2000, "height": 4000]).applying("gaussblur", ["sigma": 5])
        }
        #expect(throws: VipsError.self) { try VipsSaver.png.encode(lazy(), interrupt: { true }) }
        #expect(try VipsSaver.png.encode(lazy(), interrupt: { false }).readableBytes > 0)
    }

    @Test func `Pixels are freed with the last reference`() throws {
        func hold() throws -> Int {
            let image = try VipsImage.build("black", ["width": 4000, "height": 4000]).rendered()
            #expect(vips_tracked_get_mem() >= 16_000_000)
            return image.byteCount
        }
        #expect(try hold() == 16_000_000)
    }

    @Test func `The codecs and the version are known`() {
        #expect(VipsRuntime.version.split(separator: ".").count == 3)
        #if os(Linux)
            #expect(VipsRuntime.codecs.contains { $0.hasPrefix("libjpeg ") })
        #endif
    }
}
