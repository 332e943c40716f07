import CVips
public import NIOCore

/// Asked again and again while libvips computes pixels: true ends the work. It is called on libvips' threads.
public typealias Interrupt = @Sendable () -> Bool

extension VipsImage {
    /// Computes every pixel now, on this thread, and keeps them in memory, so that whatever is wrong with the source shows here.
    ///
    /// `interrupt` is asked before each strip of rows; when it says true, the work stops and this throws.
    public func rendered(interrupt: Interrupt? = nil) throws(VipsError) -> VipsImage {
        if darkroom_is_rendered(pointer) != 0 { return self }
        guard let memory = vips_image_new_memory() else { throw .taken(after: "rendering") }
        let image = VipsImage(taking: memory)
        let box = interrupt.map(InterruptBox.init)
        let failed = withExtendedLifetime(box) {
            darkroom_render(
                pointer, memory,
                { context in
                    guard let context else { return 0 }
                    return Unmanaged<InterruptBox>.fromOpaque(context).takeUnretainedValue().interrupt() ? 1 : 0
                }, box.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
        }
        guard failed == 0 else { throw .taken(after: "rendering") }
        image.copyBlobs()
        return image
    }

    /// libvips 8.14's HEIF loader gives colour profile and EXIF in memory that dies with the loader's own image, and every copy of
    /// that image would go on reading it: the blobs are copied while it lives.
    private func copyBlobs() {
        for field in fields {
            guard let bytes = blob(field) else { continue }
            bytes.withUnsafeReadableBytes { vips_image_set_blob_copy(pointer, field, $0.baseAddress, $0.count) }
        }
    }

    /// An image of raw samples, row by row, bands interleaved. Throws where the count of `bytes` does not fit.
    public static func fromBytes(
        _ bytes: [UInt8], width: Int, height: Int, bands: Int
    ) throws(VipsError) -> VipsImage {
        VipsRuntime.start()
        let made = bytes.withUnsafeBytes { raw in
            vips_image_new_from_memory_copy(
                raw.baseAddress, raw.count, Int32(width), Int32(height), Int32(bands), VIPS_FORMAT_UCHAR)
        }
        guard let made else { throw .taken(after: "fromBytes") }
        return VipsImage(taking: made)
    }

    /// All samples, row by row, bands interleaved, in the image's own sample format.
    public func samples() throws(VipsError) -> ByteBuffer {
        var size = 0
        guard let data = vips_image_write_to_memory(pointer, &size) else { throw .taken(after: "samples") }
        defer { g_free(data) }
        return ByteBuffer(bytes: UnsafeRawBufferPointer(start: data, count: size))
    }

    /// Runs `body` with libvips' progress signal wired to `interrupt`.
    func withInterrupt<Result>(_ interrupt: Interrupt?, _ body: () -> Result) -> Result {
        guard let interrupt else { return body() }
        return withoutActuallyEscaping(interrupt) { interrupt in
            let box = Unmanaged.passRetained(InterruptBox(interrupt))
            let handler = darkroom_on_eval(
                pointer,
                { image, _, context in
                    guard let image, let context else { return }
                    if Unmanaged<InterruptBox>.fromOpaque(context).takeUnretainedValue().interrupt() {
                        vips_image_set_kill(image, 1)
                    }
                }, box.toOpaque())
            vips_image_set_progress(pointer, 1)
            defer {
                vips_image_set_progress(pointer, 0)
                g_signal_handler_disconnect(pointer, handler)
                box.release()
            }
            return body()
        }
    }
}

/// Lets a Swift closure travel through a C pointer.
private final class InterruptBox: Sendable {
    let interrupt: Interrupt

    init(_ interrupt: @escaping Interrupt) {
        self.interrupt = interrupt
    }
}
