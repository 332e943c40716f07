import NIOCore

/// Limits on the parts of a file that decoders read before they report its size, so before ``PixelLimits`` apply.
enum HeaderLimits {
    /// The most segments of a JPEG. libjpeg keeps them in a list that it walks from the start for each segment.
    static let maxSegments = 4096
    /// The most frames of a WebP, whose list libwebp walks from the start for each frame, and the most frames of a GIF
    /// that libvips reads.
    static let maxFrames = 4096
    /// The most pages of a document whose sizes are compared, each of which has a header of its own.
    static let maxComparedPages = 256

    /// Throws `.tooLarge` for a file with more parts.
    ///
    /// - Returns: the scans of a JPEG; 1 for other formats.
    static func check(_ source: ByteBuffer, _ format: SourceFormat) throws(ImageProcessingError) -> Int {
        switch format {
        case .jpeg:
            let segments = JPEGContainer.Segments.counted(in: source, atMost: maxSegments)
            guard segments.count <= maxSegments else {
                throw .tooLarge("The JPEG has more than the \(maxSegments) segments accepted.")
            }
            return segments.scans
        case .webp:
            guard WebPContainer.frames(in: source, atMost: maxFrames) <= maxFrames else {
                throw .tooLarge("The WebP has more than the \(maxFrames) frames accepted.")
            }
        default: break
        }
        return 1
    }
}
