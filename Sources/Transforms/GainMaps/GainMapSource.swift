import DarkroomRequests
import DarkroomVips
import NIOCore

/// The gain map in a JPEG.
struct GainMapSource: Sendable {
    /// Its file.
    let file: ByteBuffer
    let metadata: GainMapMetadata
    let header: SourceHeader

    /// Nil unless the file has a map that can be applied: one with the proportions of the image, and no larger.
    ///
    /// Whatever is wrong with a map or its metadata, the image is shown without it.
    init?(of source: ByteBuffer, _ image: SourceHeader) {
        guard image.format == .jpeg else { return nil }
        for file in MultiPictureIndex.furtherImages(in: source) {
            guard let metadata = GainMapMetadata(of: file), let header = try? SourceHeader(of: file),
                header.format == .jpeg, header.size.isReduced(of: image.size)
            else { continue }
            (self.file, self.metadata, self.header) = (file, metadata, header)
            return
        }
        return nil
    }

    /// The samples: one or three bands without a color space, which decode to gains.
    func samples(interrupt: @escaping Interrupt) throws -> VipsImage? {
        let decoded = try Decoder(source: file, header: header, interrupt: interrupt).decode(DecodeParameters()).image
        guard decoded.isByte, decoded.bands == 1 || decoded.bands == 3 else { return nil }
        return try decoded.setting(removing: decoded.fields)
    }
}

extension PixelSize {
    /// Whether it is another size reduced; rounding of both sides may differ by two pixels of that size.
    fileprivate func isReduced(of whole: PixelSize) -> Bool {
        let (across, down) = (Double(width) / Double(whole.width), Double(height) / Double(whole.height))
        return across <= 1 && down <= 1
            && abs(across - down) * Double(min(whole.width, whole.height)) <= 2
    }
}
