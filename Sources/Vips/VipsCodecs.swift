import DarkroomCVips
import Foundation
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

    /// The loader's GObject class, by which libvips blocks and unblocks it; 0 if this libvips has no such loader.
    var type: GType { vips_type_find("VipsForeignLoad", rawValue) }

    /// Opens `source` and passes the lazy image to `body`: header fields are set, pixels are computed when they are
    /// read.
    ///
    /// The image reads `source` in place, so it must not escape `body`; return the result of `rendered` instead. Any
    /// corruption is an error (`fail_on: error`), never a partly gray image, unless `toleratesErrors` is true.
    ///
    /// - Parameter isUnlimited: whether an SVG may have texts of any length.
    public func withImage<Result>(
        of source: ByteBuffer, _ options: KeyValuePairs<String, VipsValue> = [:], toleratesErrors: Bool = false,
        isUnlimited: Bool = false,
        _ body: (VipsImage) throws(VipsError) -> Result
    ) throws(VipsError) -> Result {
        VipsRuntime.start()
        return try source.withUnsafeReadableBytes { (bytes) throws(VipsError) -> Result in
            // Loaders may leave messages although they succeed. The messages would be taken for the messages of a later
            // failure.
            vips_error_clear()
            var operation = try VipsOperation(rawValue)
            operation.set("buffer", lending: bytes)
            try operation.set("fail_on", toleratesErrors ? "none" : "error")
            if isUnlimited { try operation.set("unlimited", true) }
            try operation.run(options)
            return try body(try operation.image())
        }
    }
}

/// The encoders in use.
public enum VipsSaver: String, Sendable, CaseIterable {
    case jpeg = "jpegsave_buffer"
    case png = "pngsave_buffer"
    case webp = "webpsave_buffer"
    case gif = "gifsave_buffer"
    case heif = "heifsave_buffer"
    case jxl = "jxlsave_buffer"
    case tiff = "tiffsave_buffer"

    /// Whether it writes all frames or pages of an image. From version 8.16 on, libvips writes animated JPEG XL.
    package var writesFrames: Bool {
        switch self {
        case .webp, .gif, .tiff: true
        case .jxl: Self.writesAnimatedJXL
        case .jpeg, .png, .heif: false
        }
    }

    private static let writesAnimatedJXL =
        VipsRuntime.version.compare("8.16", options: .numeric) != .orderedAscending

    /// Encodes an image with the saver's libvips options. `interrupt` ends the computation of pixels, as in `rendered`.
    public func encode(
        _ image: VipsImage, _ options: KeyValuePairs<String, VipsValue> = [:], interrupt: Interrupt? = nil
    ) throws(VipsError) -> ByteBuffer {
        try image.withInterrupt(interrupt) { () throws(VipsError) in
            var operation = try VipsOperation(rawValue)
            try operation.setInput(image)
            try operation.run(options)
            return try operation.bytes("buffer")
        }
    }
}

/// The compressions of pixels in HEIF files, by their numbers in libheif.
package enum HEIFCodec: Int32, Sendable, CaseIterable {
    /// The compression of HEIC.
    case hevc = 1
    /// The compression of AVIF.
    case av1 = 4

    /// Whether libheif can decode it. libvips has a loader for HEIF files even if libheif has no decoder, which may be
    /// a package of its own.
    package var canDecode: Bool { has("heif_have_decoder_for_format") }

    package var canEncode: Bool { has("heif_have_encoder_for_format") }

    private func has(_ function: String) -> Bool {
        VipsRuntime.start()
        return darkroom_heif_has(function, rawValue) != 0
    }

    /// The version of the loaded libheif; nil if it is not loaded.
    package static var libraryVersion: (major: Int, minor: Int)? {
        VipsRuntime.start()
        // One byte for each part, from the highest on.
        let number = Int(darkroom_heif_version())
        return number == 0 ? nil : (number >> 24, number >> 16 & 0xff)
    }

    /// The version of the loaded libaom; nil if it is not loaded.
    package static var libaomVersion: (major: Int, minor: Int)? {
        VipsRuntime.start()
        let number = Int(darkroom_aom_version())
        return number == 0 ? nil : (number >> 16 & 0xff, number >> 8 & 0xff)
    }
}

/// libjxl's encoder of the coefficients of a JPEG. libvips' saver takes pixels only.
package enum JPEGXLTranscoder {
    /// Whether libjxl can be called.
    package static let isAvailable = {
        VipsRuntime.start()
        return darkroom_jxl_is_loaded() != 0
    }()

    /// The JPEG as a JPEG XL that holds the same coefficients in fewer bytes. It is decoded once, to ensure that this
    /// restores the JPEG byte by byte.
    ///
    /// Returns nil if libjxl cannot be called, does not take the JPEG, does not restore it, or saves nothing.
    package static func transcode(_ jpeg: ByteBuffer) -> ByteBuffer? {
        guard isAvailable else { return nil }
        var count = 0
        let file = jpeg.withUnsafeReadableBytes {
            darkroom_jxl_transcode($0.baseAddress, $0.count, effort, &count)
        }
        guard let file else { return nil }
        defer { g_free(file) }
        return ByteBuffer(bytes: UnsafeRawBufferPointer(start: file, count: count))
    }

    /// libjxl's default, 1…9. Time and bytes hardly depend on it.
    private static let effort: Int32 = 7
}
