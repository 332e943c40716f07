import DarkroomRequests
import DarkroomVips
import Foundation
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

/// A gain map of the kind that iPhones wrote before ISO 21496-1: its samples are gains in proportion to light, in the
/// curve of BT.709 (Apple, "Applying Apple HDR effect to your photos").
struct AppleGainMap {
    /// The gain of a sample of 255.
    private let headroom: Double

    /// Nil for a map of another kind, and for one that brightens nothing.
    ///
    /// - Parameters:
    ///   - file: the gain map's own file.
    ///   - image: the file with the image, whose EXIF has the headroom if the map has none.
    init?(of file: ByteBuffer, in image: ByteBuffer) {
        guard let packet = JPEGContainer.segment(JPEGContainer.Marker.exif, JPEGContainer.xmpName, of: file) else {
            return nil
        }
        let text = Array(packet.readableBytesView)
        let kind = XMLTokenizer.properties(of: "http://ns.apple.com/pixeldatainfo/1.0/", in: text)
        let map = XMLTokenizer.properties(of: "http://ns.apple.com/HDRGainMap/1.0/", in: text)
        guard kind["AuxiliaryImageType"] == ["urn:com:apple:photo:2020:aux:hdrgainmap"],
            map["HDRGainMapVersion"] != nil
        else { return nil }
        let stated = map["HDRGainMapHeadroom"]?.first.flatMap(Double.init)
        guard let headroom = stated ?? Self.headroom(inEXIFOf: image), headroom.isFinite, headroom > 1 else {
            return nil
        }
        self.headroom = headroom
    }

    /// How a map brightens its image once its samples have gone through ``table``; nil if the headroom is out of range.
    var metadata: GainMapMetadata? { GainMapMetadata(most: log2(headroom)) }

    /// For each sample, the sample of the same gain as a logarithm.
    var table: [UInt8] {
        (0...255).map { sample in
            let gain = 1 + (headroom - 1) * TransferCurve.bt2020.light(Double(sample) / 255)
            return UInt8((log2(gain) / log2(headroom) * 255).rounded())
        }
    }

    /// The headroom by the maker's notes. Many files have the first of its two numbers only.
    private static func headroom(inEXIFOf image: ByteBuffer) -> Double? {
        guard let exif = JPEGContainer.segment(JPEGContainer.Marker.exif, Array("Exif\0\0".utf8), of: image),
            let note = EXIFDirectory(exif)?.directory(0x8769)?.appleNote, let first = note.signedFraction(33)
        else { return nil }
        let second = note.signedFraction(48) ?? 0
        let stops =
            if first < 1 {
                second <= 0.01 ? 1.8 - 20 * second : 1.601 - 0.101 * second
            } else {
                second <= 0.01 ? 3 - 70 * second : 2.303 - 0.303 * second
            }
        return exp2(stops)
    }
}
