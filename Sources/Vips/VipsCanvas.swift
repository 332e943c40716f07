import DarkroomCVips
package import NIOCore

/// An image in memory that is written row by row, for decoders other than libvips' own.
package struct VipsCanvas: Sendable {
    /// An image of 8-bit sRGB samples that has these fields and no pixels. Only its fields may be read.
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

    /// A canvas like this template, or like several of them one below the other, whose samples are 0. Throws if memory
    /// is exhausted.
    package init(_ template: VipsImage, frames: Int = 1) throws(VipsError) {
        guard let memory = vips_image_new_memory() else { throw .taken(after: "canvas") }
        image = VipsImage(taking: memory)
        let (height, isTooHigh) = template.height.multipliedReportingOverflow(by: frames)
        guard !isTooHigh, darkroom_allocate(template.pointer, memory, Int32(clamping: height)) == 0,
            let samples = memory.pointee.data
        else { throw .taken(after: "canvas") }
        rowBytes = image.byteCount / height
        // A decoder may leave pixels out, and the memory may hold pixels of another image.
        samples.update(repeating: 0, count: image.byteCount)
    }

    /// Writes a row, counted from 0 at the top.
    ///
    /// - Parameter samples: the samples of all pixels in the row, bands interleaved.
    package func write(_ samples: [UInt8], row: Int) {
        precondition(samples.count == rowBytes, "not one row")
        samples.withUnsafeBytes { write($0, row: row) }
    }

    /// Writes whole rows of samples in the image's own format.
    package func write(_ samples: UnsafeRawBufferPointer, row: Int) {
        precondition(row >= 0 && row * rowBytes + samples.count <= image.byteCount, "rows outside of the image")
        guard let source = samples.baseAddress, let target = image.pointer.pointee.data else { return }
        UnsafeMutableRawPointer(target + row * rowBytes).copyMemory(from: source, byteCount: samples.count)
    }
}
