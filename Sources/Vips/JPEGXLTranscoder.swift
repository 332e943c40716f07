import DarkroomCVips
package import NIOCore

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
