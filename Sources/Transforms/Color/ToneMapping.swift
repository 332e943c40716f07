import DarkroomVips

/// Fits the light of HDR into SDR as browsers do on a display without headroom: SMPTE ST 2094-50, annex D, for a peak
/// of 1,000 nits.
///
/// The brightest of red, green and blue (BT.2020) decides one gain for all three, so that hues and saturated colors
/// stay. Up to diffuse white, half of the light is shown: sRGB 188 of 255. Brighter light is compressed, 1,000 nits and
/// more to white.
enum ToneMapping {
    /// The luminance of diffuse white (BT.2408, §2.2).
    static let whiteNits = 203.0
    private static let peak = 1000 / whiteNits
    /// The greatest light of PQ.
    private static let most = 10_000 / whiteNits

    /// The factor for a color whose brightest sample has this light; 1 = diffuse white.
    static func gain(_ light: Double) -> Double {
        let white = 0.5
        guard light > 1 else { return white }
        guard light < peak else { return 1 / light }
        // A quadratic Bézier curve from diffuse white to the peak.
        let bend = 0.65
        let middle = (x: 1 - bend + bend / white, y: (1 - bend) * white + bend)
        let (ax, ay) = (1 - 2 * middle.x + peak, white - 2 * middle.y + 1)
        let (bx, by) = (2 * (middle.x - 1), 2 * (middle.y - white))
        let position = ((bx * bx - 4 * ax * (1 - light)).squareRoot() - bx) / (2 * ax)
        return (white + position * (by + position * ay)) / light
    }

    /// The light of a scene that HLG encodes, as a display of 1,000 nits shows it (BT.2100, table 5).
    ///
    /// - Parameter scene: three bands of BT.2020.
    static func displayed(_ scene: VipsImage) throws(VipsError) -> VipsImage {
        let factor = try scene.applying("recomb", ["m": .image(luminance)]).applying("abs")
            .applying("math2_const", ["math2": "pow", "c": .doubles([0.2])])
            .applying("linear", ["a": .doubles([peak]), "b": .doubles([0])])
        return try scene.combining("multiply", with: factor)
    }

    /// The light that SDR shows.
    ///
    /// - Parameter light: three bands of BT.2020, where 1 is diffuse white.
    static func mapped(_ light: VipsImage) throws(VipsError) -> VipsImage {
        let bands = [try light.band(0), try light.band(1), try light.band(2)]
        let gain = try VipsImage.build("bandrank", ["in": .images(bands), "index": 2])
            .applying("linear", ["a": .doubles([65535 / most]), "b": .doubles([0.5])])
            .applying("cast", ["format": "ushort"])
            .applying("maplut", ["lut": .image(gains)])
        return try light.combining("multiply", with: gain)
    }

    private static let gains = VipsImage.table((0...65535).map { Float(gain(Double($0) / 65535 * most)) })
    private static let luminance = VipsImage.matrix([[0.2627, 0.678, 0.0593]])
}
