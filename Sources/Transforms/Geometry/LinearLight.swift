import DarkroomVips
import Foundation

/// Takes samples from the sRGB curve to 16-bit linear light and back, by look-up tables; alpha is left as it is.
///
/// Averaging gamma-coded samples darkens fine detail; averaging light does not (IEC 61966-2-1 gives the curve).
struct LinearLight {
    private let isShort: Bool
    private let interpretation: String

    /// Nil where samples do not follow the sRGB curve, as inks do not.
    init?(_ image: VipsImage) {
        guard ["srgb", "b-w", "rgb16", "grey16"].contains(image.interpretation), image.isByte || image.isShort else {
            return nil
        }
        isShort = image.isShort
        interpretation = image.interpretation
    }

    /// To linear light, 16 bits a sample.
    func entering(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let table = isShort ? Self.shortToLight : Self.byteToLight
        let widen: Double = isShort ? 1 : 257
        return try image.splittingAlpha(
            color: { color throws(VipsError) in try color.applying("maplut", ["lut": .image(table)]) },
            alpha: { alpha throws(VipsError) in
                try alpha.applying("linear", ["a": .doubles([widen]), "b": .doubles([0])])
                    .applying("cast", ["format": "ushort"])
            })
    }

    /// Back to the curve and to 8 bits a sample.
    func leaving(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let table = Self.lightToByte
        let byte = try image.splittingAlpha(
            color: { color throws(VipsError) in
                try color.applying("cast", ["format": "ushort"]).applying("maplut", ["lut": .image(table)])
            },
            alpha: { alpha throws(VipsError) in
                try alpha.applying("linear", ["a": .doubles([1 / 257.0]), "b": .doubles([0.5])])
                    .applying("cast", ["format": "uchar"])
            })
        let name = interpretation == "grey16" || interpretation == "b-w" ? "b-w" : "srgb"
        return try byte.applying("copy", ["interpretation": .string(name)])
    }

    private static let byteToLight = table(256) { UInt16((light($0 / 255) * 65535).rounded()) }
    private static let shortToLight = table(65536) { UInt16((light($0 / 65535) * 65535).rounded()) }
    private static let lightToByte = table(65536) { UInt8((curve($0 / 65535) * 255).rounded()) }

    private static func light(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func curve(_ value: Double) -> Double {
        value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
    }

    private static func table<Sample: FixedWidthInteger>(
        _ count: Int, _ sample: (Double) -> Sample
    ) -> VipsImage {
        VipsImage.table((0..<count).map { sample(Double($0)) })
    }
}
