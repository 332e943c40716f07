import DarkroomCVips
package import NIOCore

/// An image of 8-bit sRGB samples in memory that is written row by row, for decoders other than libvips' own.
package struct VipsCanvas: Sendable {
    /// The header fields of such an image.
    package struct Fields: Sendable {
        package var width: Int
        package var height: Int
        /// 3 = red, green and blue; 4 = alpha too.
        package var bands: Int
        /// Horizontal and vertical pixels per millimeter; 1 if the file states none.
        package var density = (x: 1.0, y: 1.0)
        /// The embedded ICC profile.
        package var profile: ByteBuffer?

        package init(width: Int, height: Int, bands: Int) {
            self.width = width
            self.height = height
            self.bands = bands
        }

        /// An image that has these fields and no pixels. Only its fields may be read.
        package func imageWithoutPixels() throws(VipsError) -> VipsImage {
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
    }

    /// The image, which must not be used before the last row is written.
    package let image: VipsImage
    private let rowBytes: Int

    /// A canvas whose samples are 0. Throws if memory is exhausted.
    package init(_ fields: Fields) throws(VipsError) {
        let template = try fields.imageWithoutPixels()
        guard let memory = vips_image_new_memory() else { throw .taken(after: "canvas") }
        image = VipsImage(taking: memory)
        rowBytes = fields.width * fields.bands
        guard darkroom_allocate(template.pointer, memory, Int32(clamping: fields.height)) == 0,
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
