import DarkroomVips

/// What a decoder gave, in memory to the last row: the frames of an animation one below the other.
struct DecodedPixels: Sendable {
    let image: VipsImage
    /// Where the true picture lies on the raster of one frame.
    let extent: Extent
    /// EXIF orientation 1…8; 1 once the pixels are upright.
    let orientation: Int

    /// What they take in memory, their metadata with them.
    var byteCount: Int { image.byteCount + image.fieldByteCount }

    /// Each frame by itself.
    func frames(_ count: Int) throws(VipsError) -> [VipsImage] {
        guard count > 1 else { return [image] }
        let size = PixelSize(width: image.width, height: image.height / count)
        var frames: [VipsImage] = []
        frames.reserveCapacity(count)
        for index in 0..<count { frames.append(try image.extracting(x: 0, y: index * size.height, size: size)) }
        return frames
    }

    /// The pixels of a single frame as `Orient` would turn them, in memory again.
    func upright(interrupt: @escaping Interrupt) throws(VipsError) -> DecodedPixels {
        let stored = Picture(frames: [image], extent: extent, orientation: orientation)
        let turned = try Orient(.auto).turned(stored)
        return DecodedPixels(
            image: try turned.first.rendered(interrupt: interrupt), extent: turned.extent, orientation: 1)
    }
}
