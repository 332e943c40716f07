import DarkroomVips
import Foundation

/// Fits the light of HDR into SDR as browsers do on a display without headroom: SMPTE ST 2094-50, annex D.
///
/// The brightest of red, green and blue (BT.2020) decides one gain for all three, so that hues and saturated colors
/// stay. With the usual peak of 1,000 nits, half of the light up to diffuse white is shown: sRGB 188 of 255. Brighter
/// light is compressed, the peak and more to white. The less a lower peak leaves to compress, the more light is shown.
struct ToneMapping: Hashable, Sendable {
    /// The luminance of diffuse white (BT.2408, §2.2).
    static let whiteNits = 203.0
    static let usualPeakNits = 1000
    private static let usualPeak = Double(usualPeakNits) / whiteNits
    /// The greatest light of PQ.
    private static let most = 10_000 / whiteNits

    /// The light that becomes white; 1 = diffuse white.
    private let peak: Double
    /// What diffuse white becomes.
    private let white: Double

    /// - Parameter peakNits: the brightest light of the image. Values outside of 203…10,000 count as the nearer one.
    init(peakNits: Int = usualPeakNits) {
        peak = min(max(Double(peakNits) / Self.whiteNits, 1), Self.most)
        white = 1 - 0.5 * min(log2(peak) / log2(Self.usualPeak), 1)
    }

    /// The factor for a color whose brightest sample has this light; 1 = diffuse white.
    func gain(_ light: Double) -> Double {
        guard light > 1 else { return white }
        guard light < peak else { return 1 / light }
        // A quadratic Bézier curve from diffuse white to the peak.
        let bend = 0.65
        let middle = (x: 1 - bend + bend / white, y: (1 - bend) * white + bend)
        let (ax, ay) = (1 - 2 * middle.x + peak, white - 2 * middle.y + 1)
        let (bx, by) = (2 * (middle.x - 1), 2 * (middle.y - white))
        let position = 2 * (light - 1) / (bx + (bx * bx + 4 * ax * (light - 1)).squareRoot())
        return (white + position * (by + position * ay)) / light
    }

    /// The light of a scene that HLG encodes, as a display of 1,000 nits shows it (BT.2100, table 5).
    ///
    /// - Parameter scene: three bands of BT.2020.
    static func displayed(_ scene: VipsImage) throws(VipsError) -> VipsImage {
        let factor = try scene.applying("recomb", ["m": .image(luminance)]).applying("abs")
            .applying("math2_const", ["math2": "pow", "c": .doubles([0.2])])
            .applying("linear", ["a": .doubles([usualPeak]), "b": .doubles([0])])
        return try scene.combining("multiply", with: factor)
    }

    /// The light that SDR shows.
    ///
    /// - Parameter light: three bands of BT.2020, where 1 is diffuse white.
    func mapped(_ light: VipsImage) throws(VipsError) -> VipsImage {
        let bands = [try light.band(0), try light.band(1), try light.band(2)]
        let gain = try VipsImage.build("bandrank", ["in": .images(bands), "index": 2])
            .applying("linear", ["a": .doubles([65535 / Self.most]), "b": .doubles([0.5])])
            .applying("cast", ["format": "ushort"])
            .applying("maplut", ["lut": .image(gains)])
        return try light.combining("multiply", with: gain)
    }

    private var gains: VipsImage {
        self == Self.usual ? Self.usualGains : .table(gainsOfSamples)
    }

    private var gainsOfSamples: [Float] { (0...65535).map { Float(gain(Double($0) / 65535 * Self.most)) } }

    private static let usual = ToneMapping()
    private static let usualGains = VipsImage.table(usual.gainsOfSamples)
    private static let luminance = VipsImage.matrix([[0.2627, 0.678, 0.0593]])
}
