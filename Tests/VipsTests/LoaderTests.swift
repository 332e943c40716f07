import DarkroomCVips
import NIOCore
import Testing

@testable import DarkroomVips

struct LoaderTests {
    @Test(arguments: [
        "magickload_buffer", "pdfload_buffer", "radload_buffer", "jp2kload_buffer", "magickload", "pdfload", "ppmload",
        "jp2kload", "csvload", "fitsload", "openslideload", "rawload", "analyzeload", "matrixload", "vipsload",
        "radload",
        "niftiload", "openexrload", "matload", "jpegload", "pngload", "gifload", "webpload", "heifload", "tiffload",
        "svgload",
    ])
    func `No other loader runs, even by its own name`(_ name: String) throws {
        VipsRuntime.start()
        // Builds of libvips have more or fewer of them.
        guard vips_type_find("VipsForeignLoad", name) != 0 else { return }
        let bytes: [UInt8] = Array("P6 1 1 255 abc".utf8)
        let error = bytes.withUnsafeBytes { raw in
            #expect(throws: VipsError.self) {
                var operation = try VipsOperation(name)
                if name.hasSuffix("_buffer") {
                    operation.set("buffer", lending: raw)
                } else {
                    try operation.set("filename", "/dev/null")
                }
                try operation.run()
            }
        }
        #expect(error?.message.contains("blocked") == true, "\(String(describing: error))")
    }

    @Test(arguments: VipsLoader.allCases)
    func `The loaders in use are available`(_ loader: VipsLoader) {
        #expect(VipsRuntime.canLoad(loader))
    }

    @Test(arguments: VipsSaver.allCases)
    func `The savers in use are available and their output can be loaded`(_ saver: VipsSaver) throws {
        #expect(VipsRuntime.canSave(saver))
        let image = try VipsImage.fromBytes(Array(repeating: 90, count: 32 * 32 * 3), width: 32, height: 32, bands: 3)
            .applying("copy", ["interpretation": "srgb"])
        let bytes = try saver.encode(image, saver == .heif ? ["compression": "av1"] : [:])
        let loader = try #require(VipsLoader(rawValue: saver.rawValue.replacing("save", with: "load")))
        let size = try loader.withImage(of: bytes) { ($0.width, $0.height) }
        #expect(size == (32, 32))
    }

    @Test(arguments: VipsLoader.allCases)
    func `Bytes of another kind are an error, not an image`(_ loader: VipsLoader) {
        for bytes in [ByteBuffer(), ByteBuffer(string: "BM"), ByteBuffer(repeating: 0, count: 4096)] {
            #expect(throws: VipsError.self) {
                try loader.withImage(of: bytes) { image throws(VipsError) in try image.rendered().width }
            }
        }
    }
}
