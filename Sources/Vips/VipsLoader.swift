import DarkroomCVips
public import NIOCore

/// The loaders that may read untrusted bytes. All others in libvips (magick, pdf, openslide, …) are blocked by
/// `VipsRuntime`.
///
/// A loader is always named explicitly: libvips' own format detection loops indefinitely on some compressed data.
public enum VipsLoader: String, Sendable, CaseIterable {
    case jpeg = "jpegload_buffer"
    case png = "pngload_buffer"
    case webp = "webpload_buffer"
    case gif = "gifload_buffer"
    case heif = "heifload_buffer"
    case jxl = "jxlload_buffer"
    case tiff = "tiffload_buffer"
    case svg = "svgload_buffer"

    /// The loader's GObject class, by which libvips blocks and unblocks it.
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

    /// Opens `source` and passes the lazy image to `body`: header fields are set, pixels are computed when they are
    /// read.
    ///
    /// The image reads `source` in place, so it must not escape `body`; return the result of `rendered` instead. Any
    /// corruption is an error (`fail_on: error`), never a partly gray image, unless `toleratesErrors` is true.
    public func withImage<Result>(
        of source: ByteBuffer, _ options: KeyValuePairs<String, VipsValue> = [:], toleratesErrors: Bool = false,
        _ body: (VipsImage) throws(VipsError) -> Result
    ) throws(VipsError) -> Result {
        try source.withUnsafeReadableBytes { (bytes) throws(VipsError) -> Result in
            // Loaders may leave messages although they succeed. The messages would be taken for the messages of a later
            // failure.
            vips_error_clear()
            var operation = try VipsOperation(rawValue)
            operation.set("buffer", lending: bytes)
            try operation.set("fail_on", toleratesErrors ? "none" : "error")
            for (name, value) in options { try operation.set(name, value) }
            try operation.run()
            return try body(try operation.image())
        }
    }
}
