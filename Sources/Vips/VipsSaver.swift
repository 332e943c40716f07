import DarkroomCVips
public import NIOCore

/// The encoders in use.
public enum VipsSaver: String, Sendable, CaseIterable {
    case jpeg = "jpegsave_buffer"
    case png = "pngsave_buffer"
    case webp = "webpsave_buffer"
    case gif = "gifsave_buffer"
    case heif = "heifsave_buffer"
    case jxl = "jxlsave_buffer"
    case tiff = "tiffsave_buffer"

    /// Encodes an image with the saver's libvips options. `interrupt` ends the computation of pixels, as in `rendered`.
    public func encode(
        _ image: VipsImage, _ options: KeyValuePairs<String, VipsValue> = [:], interrupt: Interrupt? = nil
    ) throws(VipsError) -> ByteBuffer {
        let outcome = image.withInterrupt(interrupt) { () -> Result<ByteBuffer, VipsError> in
            Result { () throws(VipsError) -> ByteBuffer in
                var operation = try VipsOperation(rawValue)
                try operation.set("in", .image(image))
                for (name, value) in options { try operation.set(name, value) }
                try operation.run()
                return try operation.bytes("buffer")
            }
        }
        return try outcome.get()
    }
}
