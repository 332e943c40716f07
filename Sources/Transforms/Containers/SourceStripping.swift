import NIOCore

/// What leaves out all of a file that draws nothing.
struct SourceStripping: Sendable {
    /// The format of the files.
    let format: SourceFormat
    /// Returns nil for a file in an unexpected form. The result is never larger than the file.
    let strip: @Sendable (ByteBuffer) -> ByteBuffer?

    /// Nil for a format without one.
    init?(as format: OutputFormat) {
        switch format {
        case .jpeg: (self.format, strip) = (.jpeg, JPEGContainer.stripped)
        case .png: (self.format, strip) = (.png, PNGContainer.stripped)
        case .webp: (self.format, strip) = (.webp, WebPContainer.stripped)
        case .gif: (self.format, strip) = (.gif, GIFContainer.stripped)
        case .avif, .jxl, .tiff, .json, .blurHash, .thumbHash, .color, .lqip: return nil
        }
    }
}
