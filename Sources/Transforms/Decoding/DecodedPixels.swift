import DarkroomVips

/// Decoded pixels, in memory to the last row. The frames of an animation lie one below the other.
struct DecodedPixels: Sendable {
    let image: VipsImage
    /// Where the whole image lies on the raster of one frame.
    let extent: Extent
    /// EXIF orientation 1…8; 1 once it is applied.
    let orientation: Int

    /// Memory of pixels and metadata in bytes.
    var byteCount: Int { image.byteCount + image.fieldByteCount }

    /// Each frame as an image of its own.
    func frames(_ count: Int) throws(VipsError) -> [VipsImage] {
        guard count > 1 else { return [image] }
        let size = PixelSize(width: image.width, height: image.height / count)
        var frames: [VipsImage] = []
        frames.reserveCapacity(count)
        for index in 0..<count { frames.append(try image.extracting(x: 0, y: index * size.height, size: size)) }
        return frames
    }

    /// The pixels of a single frame with their orientation applied, rendered into memory.
    func upright(interrupt: @escaping Interrupt) throws(VipsError) -> DecodedPixels {
        let stored = ImageFrames(frames: [image], extent: extent, orientation: orientation)
        let upright = try Orient(.auto).upright(stored)
        return DecodedPixels(
            image: try upright.first.rendered(interrupt: interrupt), extent: upright.extent, orientation: 1)
    }
}
