import DarkroomCVips
package import NIOCore

/// libheif's encoder of AVIF, with options that libvips' saver does not have.
package struct AVIFEncoder: Sendable {
    /// The quality of the colors, 1…100. Alpha is exact. Encoders other than libaom encode it like the colors.
    package var quality: Int
    /// 0…9.
    package var effort: Int
    package var keepsChroma: Bool
    /// Whether every sample is kept: red, green and blue are encoded as they are.
    package var isLossless: Bool

    /// Whether the samples are Display P3 instead of sRGB, which code points state.
    package var isP3: Bool

    package init(quality: Int, effort: Int, keepsChroma: Bool, isLossless: Bool, isP3: Bool = false) {
        (self.quality, self.effort) = (quality, effort)
        (self.keepsChroma, self.isLossless, self.isP3) = (keepsChroma, isLossless, isP3)
    }

    /// Whether libheif can be called. Otherwise only libvips' saver can.
    package static let isAvailable = HEIFCodec.libraryVersion != nil

    /// Whether the encoder can keep every sample.
    package static let hasLosslessMode = {
        VipsRuntime.start()
        return darkroom_avif_has_lossless() != 0
    }()

    /// Whether chroma of 10-bit images is halved on one side only: for 10 bits, libheif before 1.15.2 states a profile
    /// that has no other sampling, and libaom ends the process otherwise.
    private static let halvesChromaOnce = HEIFCodec.libraryVersion.map { $0 < (1, 16) } ?? true

    /// Encodes an image: red, green and blue of 8 or 16 bits, which become 10 bits, or with alpha of 8 bits.
    ///
    /// - Parameters:
    ///   - exif: EXIF data for the file; nil = none.
    ///   - xmp: an XMP packet for the file; nil = none.
    package func encode(
        _ image: VipsImage, exif: ByteBuffer? = nil, xmp: ByteBuffer? = nil
    ) throws(VipsError) -> ByteBuffer {
        let isDeep = image.isShort && image.bands == 3 && !isLossless
        guard isDeep || image.isByte && (image.bands == 3 || image.bands == 4) else {
            throw VipsError(operation: Self.operation, message: "\(image.bands) bands of \(image.sampleFormat)")
        }
        guard let file = g_byte_array_new() else { throw VipsError(operation: Self.operation, message: "no memory") }
        defer { g_byte_array_unref(file) }
        let reason = try image.withSamples { samples throws(VipsError) -> UnsafeMutablePointer<CChar>? in
            (exif ?? ByteBuffer()).withUnsafeReadableBytes { exif in
                (xmp ?? ByteBuffer()).withUnsafeReadableBytes { xmp in
                    var options = darkroom_avif_image(
                        samples: samples.baseAddress, width: Int32(clamping: image.width),
                        height: Int32(clamping: image.height), bands: Int32(clamping: image.bands),
                        quality: Int32(clamping: quality), effort: Int32(clamping: effort),
                        keeps_chroma: keepsChroma ? 1 : 0, is_lossless: isLossless ? 1 : 0,
                        is_p3: isP3 ? 1 : 0, is_deep: isDeep ? 1 : 0,
                        halves_chroma_once: isDeep && Self.halvesChromaOnce ? 1 : 0, exif: exif.baseAddress,
                        exif_size: Int32(clamping: exif.count),
                        xmp: xmp.baseAddress,
                        xmp_size: Int32(clamping: xmp.count))
                    return darkroom_avif_encode(&options, file)
                }
            }
        }
        if let reason {
            defer { g_free(reason) }
            throw VipsError(operation: Self.operation, message: String(String(cString: reason).prefix(400)))
        }
        return ByteBuffer(bytes: UnsafeRawBufferPointer(start: file.pointee.data, count: Int(file.pointee.len)))
    }

    private static let operation = "heif_context_encode_image"
}
