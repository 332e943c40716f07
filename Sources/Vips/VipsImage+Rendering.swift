import DarkroomCVips
public import NIOCore

/// Called regularly while libvips computes pixels; true ends the work. It may be called on libvips' own threads.
public typealias Interrupt = @Sendable () -> Bool

extension VipsImage {
    /// Computes every pixel into memory, on this thread, so that any error in the source surfaces here.
    ///
    /// `interrupt` is called before each strip of rows; when it returns true, the work stops and this throws.
    public func rendered(interrupt: Interrupt? = nil) throws(VipsError) -> VipsImage {
        isRendered ? self : try Self.stacked([self], interrupt: interrupt)
    }

    /// Whether all pixels are in memory.
    package var isRendered: Bool { darkroom_is_rendered(pointer) != 0 }

    /// Renders images of one size and format one below the other. The result has the fields of the first image.
    ///
    /// Do not use libvips' own `arrayjoin`: in 8.14 its result contains freed memory if its inputs are lazy.
    package static func stacked(
        _ images: [VipsImage], interrupt: Interrupt? = nil
    ) throws(VipsError) -> VipsImage {
        guard let first = images.first, images.allSatisfy(first.hasShape(of:)) else {
            throw VipsError(operation: "stacking", message: "images of different sizes or formats")
        }
        guard let memory = vips_image_new_memory() else { throw .taken(after: "rendering") }
        let stack = VipsImage(taking: memory)
        guard darkroom_allocate(first.pointer, memory, Int32(clamping: first.height * images.count)) == 0 else {
            throw .taken(after: "rendering")
        }
        for (index, image) in images.enumerated() {
            try image.render(into: stack, row: index * first.height, interrupt: interrupt)
        }
        stack.copyBlobs()
        return stack
    }

    private func hasShape(of other: VipsImage) -> Bool {
        width == other.width && height == other.height && bands == other.bands && sampleFormat == other.sampleFormat
    }

    private func render(into target: VipsImage, row: Int, interrupt: Interrupt?) throws(VipsError) {
        let box = interrupt.map(InterruptBox.init)
        let failed = withExtendedLifetime(box) {
            darkroom_render(
                pointer, target.pointer, Int32(clamping: row), { InterruptBox.isInterrupted($0) ? 1 : 0 }, box?.context)
        }
        guard failed == 0 else { throw .taken(after: "rendering") }
    }

    /// Copies binary fields. libvips 8.14's HEIF loader keeps profile and EXIF in memory that is freed with the
    /// loader's own image, although copies of that image still refer to it.
    private func copyBlobs() {
        let names = fields
        let texts = names.filter { $0.hasPrefix("exif-ifd") }.map { ($0, text($0)) }
        for field in names {
            guard let bytes = blob(field) else { continue }
            bytes.withUnsafeReadableBytes { vips_image_set_blob_copy(pointer, field, $0.baseAddress, $0.count) }
        }
        // Setting EXIF data sets its fields as well, also the ones that were removed.
        for field in fields where !names.contains(field) { vips_image_remove(pointer, field) }
        for (field, text) in texts { if let text { vips_image_set_string(pointer, field, text) } }
    }

    /// An image of 8-bit samples, row by row, bands interleaved. Throws if the count of `bytes` does not match.
    public static func fromBytes(
        _ bytes: [UInt8], width: Int, height: Int, bands: Int
    ) throws(VipsError) -> VipsImage {
        guard let made = copying(bytes, width: width, height: height, bands: bands, VIPS_FORMAT_UCHAR) else {
            throw .taken(after: "fromBytes")
        }
        // libvips' copy has no spare bytes.
        return try made.applying("copy").rendered()
    }

    /// All samples, row by row, bands interleaved, in the image's own sample format.
    public func samples() throws(VipsError) -> ByteBuffer {
        var size = 0
        guard let data = vips_image_write_to_memory(pointer, &size) else { throw .taken(after: "samples") }
        defer { g_free(data) }
        return ByteBuffer(bytes: UnsafeRawBufferPointer(start: data, count: size))
    }

    /// Lends all samples to `body`, as ``samples()`` orders them, without a copy if they are in memory already.
    package func withSamples<Result>(
        _ body: (UnsafeRawBufferPointer) throws(VipsError) -> Result
    ) throws(VipsError) -> Result {
        let image = try rendered()
        return try withExtendedLifetime(image) { () throws(VipsError) -> Result in
            guard let data = image.pointer.pointee.data else { throw .taken(after: "samples") }
            return try body(UnsafeRawBufferPointer(start: data, count: image.byteCount))
        }
    }

    /// A copy in memory whose samples `edit` has changed, ordered as by ``samples()``.
    package func copied(
        interrupt: Interrupt? = nil, editing edit: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(VipsError) -> VipsImage {
        let copy = try Self.stacked([self], interrupt: interrupt)
        guard let data = copy.pointer.pointee.data else { throw .taken(after: "copying") }
        edit(UnsafeMutableRawBufferPointer(start: data, count: copy.byteCount))
        return copy
    }

    /// Runs `body` with libvips' progress signal wired to `interrupt`.
    func withInterrupt<Result>(
        _ interrupt: Interrupt?, _ body: () throws(VipsError) -> Result
    ) throws(VipsError) -> Result {
        guard let interrupt else { return try body() }
        let box = InterruptBox(interrupt)
        return try withExtendedLifetime(box) { () throws(VipsError) in
            let handler = darkroom_on_eval(
                pointer,
                { image, _, context in if InterruptBox.isInterrupted(context) { vips_image_set_kill(image, 1) } },
                box.context)
            vips_image_set_progress(pointer, 1)
            defer {
                vips_image_set_progress(pointer, 0)
                g_signal_handler_disconnect(pointer, handler)
            }
            return try body()
        }
    }
}

/// Passes a Swift closure through a C pointer.
private final class InterruptBox: Sendable {
    private let interrupt: Interrupt

    init(_ interrupt: @escaping Interrupt) { self.interrupt = interrupt }

    /// The pointer for C, which does not retain the box.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func isInterrupted(_ context: UnsafeRawPointer?) -> Bool {
        context.map { Unmanaged<InterruptBox>.fromOpaque($0).takeUnretainedValue().interrupt() } ?? false
    }
}
