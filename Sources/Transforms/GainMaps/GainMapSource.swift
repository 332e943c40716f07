import DarkroomRequests
import DarkroomVips
import NIOCore

/// The gain map in a JPEG.
struct GainMapSource: Sendable {
    let file: ByteBuffer
    let metadata: GainMapMetadata
    let header: SourceHeader
    /// The sample for each sample of the file; nil = the same.
    private let table: [UInt8]?

    /// Nil unless the file has a map that can be applied: one with the proportions of the image, and either no more
    /// pixels or at most ``maxPixels``.
    ///
    /// Whatever is wrong with a map or its metadata, the image is shown without it.
    init?(of source: ByteBuffer, _ image: SourceHeader) {
        guard image.format == .jpeg else { return nil }
        for file in MultiPictureIndex.furtherImages(in: source) {
            let metadata = GainMapMetadata(of: file)
            let apple = metadata == nil ? AppleGainMap(of: file, in: source) : nil
            guard let metadata = metadata ?? apple?.metadata, let header = try? SourceHeader(of: file),
                header.format == .jpeg, header.size.isScaled(from: image.size)
            else { continue }
            (self.file, self.metadata, self.header, table) = (file, metadata, header, apple?.table)
            return
        }
        return nil
    }

    /// The most pixels of a map that is larger than its image. Decoding them takes less than a tenth of a second.
    fileprivate static let maxPixels = 1 << 22

    /// The samples: one or three bands without a color space, which decode to gains. Throws if they are corrupt.
    func samples(interrupt: @escaping Interrupt) throws -> VipsImage? {
        // libjpeg makes up what is missing in front of an end. Without one, the decoder examines the last scan.
        let decoder = Decoder(source: JPEGContainer.withoutEnd(file), header: header, interrupt: interrupt)
        let decoded = try decoder.decode(DecodeParameters()).image
        guard decoded.isByte, decoded.bands == 1 || decoded.bands == 3 else { return nil }
        let samples = try decoded.setting(removing: decoded.fields)
        return try table.map { table throws(VipsError) in
            try samples.applying("maplut", ["lut": .image(.table(table))])
        } ?? samples
    }
}

extension PixelSize {
    /// Whether it has another size's proportions; rounding of both sides may differ by two pixels of that size.
    fileprivate func isScaled(from whole: PixelSize) -> Bool {
        let (across, down) = (Double(width) / Double(whole.width), Double(height) / Double(whole.height))
        return area <= max(whole.area, GainMapSource.maxPixels)
            && abs(across - down) * Double(min(whole.width, whole.height)) <= 2
    }
}
