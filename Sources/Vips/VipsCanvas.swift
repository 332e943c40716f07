import DarkroomCVips
package import NIOCore

/// An image of 8-bit sRGB samples in memory that is written row by row, for decoders other than libvips' own.
package struct VipsCanvas: Sendable {
    /// An image that has these fields and no pixels. Only its fields may be read.
    ///
    /// - Parameters:
    ///   - bands: 3 = red, green and blue; 4 = alpha too.
    ///   - density: horizontal and vertical pixels per millimeter; 1 if the file states none.
    ///   - profile: the embedded ICC profile.
    package static func template(
        width: Int, height: Int, bands: Int, density: (x: Double, y: Double), profile: ByteBuffer?
    ) throws(VipsError) -> VipsImage {
        VipsRuntime.start()
        guard let made = vips_image_new_memory() else { throw .taken(after: "canvas") }
        vips_image_init_fields(
            made, Int32(clamping: width), Int32(clamping: height), Int32(clamping: bands), VIPS_FORMAT_UCHAR,
            VIPS_CODING_NONE, VIPS_INTERPRETATION_sRGB, density.x, density.y)
        profile?.withUnsafeReadableBytes { bytes in
            vips_image_set_blob_copy(made, "icc-profile-data", bytes.baseAddress, bytes.count)
        }
        return VipsImage(taking: made)
    }

    /// The image, which must not be used before the last row is written.
    package let image: VipsImage
    private let rowBytes: Int

    /// A canvas like this template, whose samples are 0. Throws if memory is exhausted.
    package init(_ template: VipsImage) throws(VipsError) {
        guard let memory = vips_image_new_memory() else { throw .taken(after: "canvas") }
        image = VipsImage(taking: memory)
        rowBytes = template.width * template.bands
        guard darkroom_allocate(template.pointer, memory, Int32(clamping: template.height)) == 0,
            let samples = memory.pointee.data
        else { throw .taken(after: "canvas") }
        // A decoder may leave pixels out, and the memory may hold pixels of another image.
        samples.update(repeating: 0, count: image.byteCount)
    }

    /// Writes a row, counted from 0 at the top.
    ///
    /// - Parameter samples: the samples of all pixels in the row, bands interleaved.
    package func write(_ samples: [UInt8], row: Int) {
        precondition(samples.count == rowBytes && row >= 0 && row < image.height, "a row outside of the image")
        samples.withUnsafeBufferPointer { samples in
            guard let source = samples.baseAddress, let target = image.pointer.pointee.data else { return }
            (target + row * rowBytes).update(from: source, count: samples.count)
        }
    }
}
