import DarkroomVips
import Foundation

/// Converts sRGB samples to 16-bit linear light and back, by lookup tables (libvips `maplut`); alpha is not changed.
///
/// Averaging gamma-encoded samples darkens fine detail; averaging light does not.
struct LinearLight {
    private let isShort: Bool
    private let interpretation: String

    /// Nil for samples that do not follow the sRGB curve, such as CMYK.
    init?(_ image: VipsImage) {
        guard ["srgb", "b-w", "rgb16", "grey16"].contains(image.interpretation), image.isByte || image.isShort,
            image.statedSpace?.curve ?? .sRGB == .sRGB
        else { return nil }
        isShort = image.isShort
        interpretation = image.interpretation
    }

    /// The image in linear light, 16 bits per sample.
    func linearized(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let table = isShort ? Self.shortToLight : Self.byteToLight
        let widen: Double = isShort ? 1 : 257
        return try image.splittingAlpha(
            color: { color throws(VipsError) in try color.applying("maplut", ["lut": .image(table)]) },
            alpha: { alpha throws(VipsError) in
                try alpha.applying("linear", ["a": .doubles([widen]), "b": .doubles([0])])
                    .applying("cast", ["format": "ushort"])
            })
    }

    /// The linear image back on the sRGB curve, with as many bits per sample as before.
    func encoded(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let table = isShort ? Self.lightToShort : Self.lightToByte
        let encoded = try image.splittingAlpha(
            color: { color throws(VipsError) in
                try color.applying("cast", ["format": "ushort"]).applying("maplut", ["lut": .image(table)])
            },
            alpha: { alpha throws(VipsError) in
                if isShort { return alpha }
                return try alpha.applying("linear", ["a": .doubles([1 / 257.0]), "b": .doubles([0.5])])
                    .applying("cast", ["format": "uchar"])
            })
        return try encoded.applying("copy", ["interpretation": .string(interpretation)])
    }

    private static let byteToLight = table(256) { UInt16((SRGBCurve.light($0 / 255) * 65535).rounded()) }
    private static let shortToLight = table(65536) { UInt16((SRGBCurve.light($0 / 65535) * 65535).rounded()) }
    static let lightToShort = table(65536) { UInt16((SRGBCurve.sample($0 / 65535) * 65535).rounded()) }
    static let lightToByte = table(65536) { UInt8((SRGBCurve.sample($0 / 65535) * 255).rounded()) }

    private static func table<Sample: FixedWidthInteger>(
        _ count: Int, _ sample: (Double) -> Sample
    ) -> VipsImage {
        VipsImage.table((0..<count).map { sample(Double($0)) })
    }
}

/// The transfer function of sRGB (IEC 61966-2-1). Samples and light are 0…1 unless stated otherwise.
enum SRGBCurve {
    static func light(_ sample: Double) -> Double {
        sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4)
    }

    static func sample(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    /// The light of each 8-bit sample.
    static let lightOfBytes: [Double] = (0...255).map { light(Double($0) / 255) }

    /// The 8-bit sample of light, which is clipped to 0…1.
    static func byte(_ light: Double) -> UInt8 { UInt8(sample(min(max(light, 0), 1)) * 255 + 0.5) }

    /// The 16-bit sample of light, which is clipped to 0…1.
    static func short(_ light: Double) -> UInt16 { UInt16(sample(min(max(light, 0), 1)) * 65535 + 0.5) }
}
