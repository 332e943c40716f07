import DarkroomCVips
public import NIOCore

/// The loaders that may touch foreign bytes. All others that libvips has (magick, pdf, openslide, …) are blocked in the runtime.
///
/// A loader is always named by us: libvips' own sniffing loops for ever on some compressed data.
public enum VipsLoader: String, Sendable, CaseIterable {
    case jpeg = "jpegload_buffer"
    case png = "pngload_buffer"
    case webp = "webpload_buffer"
    case gif = "gifload_buffer"
    case heif = "heifload_buffer"
    case jxl = "jxlload_buffer"
    case tiff = "tiffload_buffer"
    case svg = "svgload_buffer"

    /// The GObject class, which is what libvips blocks and unblocks.
    var className: String {
        switch self {
        case .jpeg: "VipsForeignLoadJpegBuffer"
        case .png: "VipsForeignLoadPngBuffer"
        case .webp: "VipsForeignLoadWebpBuffer"
        case .gif: "VipsForeignLoadNsgifBuffer"
        case .heif: "VipsForeignLoadHeifBuffer"
        case .jxl: "VipsForeignLoadJxlBuffer"
        case .tiff: "VipsForeignLoadTiffBuffer"
        case .svg: "VipsForeignLoadSvgBuffer"
        }
    }

    /// Opens `source` and lends the lazy image to `body`: header fields are there, pixels are computed when read.
    ///
    /// The image reads `source` in place, so it must not leave `body`; give back what `rendered` made of it.
    /// Damage of any kind is an error (`fail_on: error`), never a partly grey picture, unless somebody `toleratesDamage`.
    public func withImage<Result>(
        of source: ByteBuffer, _ options: KeyValuePairs<String, VipsValue> = [:], toleratesDamage: Bool = false,
        _ body: (VipsImage) throws(VipsError) -> Result
    ) throws(VipsError) -> Result {
        try source.withUnsafeReadableBytes { (bytes) throws(VipsError) -> Result in
            var operation = try VipsOperation(rawValue)
            operation.set("buffer", lending: bytes)
            try operation.set("fail_on", toleratesDamage ? "none" : "error")
            for (name, value) in options { try operation.set(name, value) }
            try operation.run()
            return try body(try operation.image())
        }
    }
}
