import Foundation
import NIOCore

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
