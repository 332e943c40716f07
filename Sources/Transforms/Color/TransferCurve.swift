import DarkroomVips
import Foundation

/// The relation of samples to light (ITU-T H.273, table 3).
enum TransferCurve: Hashable, Sendable {
    case sRGB
    /// Light is the sample to this power.
    case power(Double)
    /// BT.2020, and BT.709 as a camera encodes it.
    case bt2020
    /// SMPTE ST 240.
    case smpte240
    /// SMPTE ST 428-1.
    case cinema
    /// Perceptual quantization (BT.2100): absolute light up to 10,000 nits.
    case pq
    /// Hybrid log-gamma (BT.2100): the light of a scene.
    case hlg

    var isHDR: Bool { self == .pq || self == .hlg }

    /// The light of a sample of 0…1. Black is 0 and white is 1; of PQ, 1 is diffuse white, 203 nits (BT.2408).
    func light(_ sample: Double) -> Double {
        switch self {
        case .sRGB: SRGBCurve.light(sample)
        case .power(let exponent): pow(sample, exponent)
        case .bt2020: Self.camera(sample, gain: 1.0992968, slope: 4.5, lineEnd: 0.0812429)
        case .smpte240: Self.camera(sample, gain: 1.1115722, slope: 4, lineEnd: 0.0912863)
        case .cinema: pow(sample, 2.6) * 52.37 / 48
        case .pq: Self.perceptualQuantization(sample) * 10_000 / ToneMapping.whiteNits
        case .hlg: Self.hybridLogGamma(sample)
        }
    }

    /// The inverse of a camera's curve with exponent 0.45, which is a line near black.
    private static func camera(_ sample: Double, gain: Double, slope: Double, lineEnd: Double) -> Double {
        sample < lineEnd ? sample / slope : pow((sample + gain - 1) / gain, 1 / 0.45)
    }

    /// BT.2100, table 4; 1 = 10,000 nits.
    private static func perceptualQuantization(_ sample: Double) -> Double {
        let (m1, m2, c1, c2, c3) = (2610.0 / 16384, 2523.0 / 32, 3424.0 / 4096, 2413.0 / 128, 2392.0 / 128)
        let root = pow(sample, 1 / m2)
        return pow(max(root - c1, 0) / (c2 - c3 * root), 1 / m1)
    }

    /// BT.2100, table 5.
    private static func hybridLogGamma(_ sample: Double) -> Double {
        let a = 0.17883277
        let (b, c) = (1 - 4 * a, 0.5 - a * log(4 * a))
        return sample <= 0.5 ? sample * sample / 3 : (exp((sample - c) / a) + b) / 12
    }
}

/// Lookup tables, by which brightness, contrast and gamma change every color sample alike.
extension ImageFrames {
    /// Maps every color sample through a table of 256 bytes (libvips `maplut`).
    func mappingTones(by table: VipsImage) throws(VipsError) -> ImageFrames {
        try changingColor { color throws(VipsError) in try color.applying("maplut", ["lut": .image(table)]) }
    }
}

extension VipsImage {
    /// A table for `mappingTones` of a function of tones 0…1, clipped to that range.
    static func curve(_ function: (Double) -> Double) -> VipsImage {
        table(
            (0..<256).map { step -> UInt8 in
                UInt8((min(max(function(Double(step) / 255), 0), 1) * 255).rounded())
            })
    }

    /// Every tone as red, green and blue.
    static let grays = grayscale((0...255).map(UInt8.init))

    /// A table for `grayscale(through:)` of 256 tones.
    static func grayscale(_ tones: [UInt8]) -> VipsImage { table(tones, bands: 3) }

    /// Luminance through a table of three bands: `colourspace` would compute the luminance once for each band.
    func grayscale(through table: VipsImage) throws(VipsError) -> VipsImage {
        try applying("colourspace", ["space": "b-w"]).applying("maplut", ["lut": .image(table)])
            .applying("copy", ["interpretation": "srgb"])
    }
}
