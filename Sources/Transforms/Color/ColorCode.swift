/// The color space of an image's samples, as its container states it without an ICC profile.
///
/// A decoder attaches it to the image, and ``ColorConversion`` converts from it.
enum ColorCode: Hashable, Sendable {
    /// PNG's `cICP`, and `colr` boxes of type `nclx` in HEIF.
    case codePoints(CodePoints)
    /// PNG's `gAMA` in 1/100,000, and `cHRM`; without it, the primaries are sRGB's.
    case measured(gamma: Int, Chromaticities?)

    /// Nil if the code means no color space, so that browsers take the samples as sRGB.
    var space: ColorSpace? {
        switch self {
        case .codePoints(let points):
            return points.space
        // About 2.2, which stands for the curve of sRGB beside its primaries.
        case .measured(43_479...47_619, nil): return nil
        case .measured(let gamma, let chromaticities):
            return ColorSpace(
                toXYZ: chromaticities?.toXYZ ?? ColorSpace.sRGB.toXYZ,
                curve: .power(100_000 / Double(gamma)))
        }
    }
}

/// Code points of ITU-T H.273 (CICP). The decoder has already applied matrix and range.
struct CodePoints: Hashable, Sendable {
    /// Table 2.
    let primaries: Int
    /// Table 3.
    let transfer: Int
    /// Table 4; 0 = red, green and blue are stored.
    let matrix: Int
    let isFullRange: Bool
    /// The brightest light of an image in HDR; 0 = not stated.
    let peakNits: Int
    /// Whether the curve of a camera means the curve of a reference display (BT.1886), as browsers read PNG. They read
    /// it as sRGB's in AVIF.
    let hasDisplayCurve: Bool

    init(
        primaries: Int, transfer: Int, matrix: Int, isFullRange: Bool, peakNits: Int = 0, hasDisplayCurve: Bool = false
    ) {
        (self.primaries, self.transfer, self.matrix) = (primaries, transfer, matrix)
        (self.isFullRange, self.peakNits, self.hasDisplayCurve) = (isFullRange, peakNits, hasDisplayCurve)
    }

    init(_ color: HEIFColor) {
        self.init(
            primaries: Int(color.primaries), transfer: Int(color.transfer), matrix: Int(color.matrix),
            isFullRange: color.isFullRange, peakNits: Int(color.peakNits))
    }

    /// Nil if primaries or transfer are reserved, or no browser supports them.
    var space: ColorSpace? {
        guard let toXYZ = Chromaticities(codePoint: primaries)?.toXYZ, let curve else { return nil }
        guard curve.isHDR, peakNits > 0 else { return ColorSpace(toXYZ: toXYZ, curve: curve) }
        return ColorSpace(toXYZ: toXYZ, curve: curve, toneMapping: ToneMapping(peakNits: peakNits))
    }

    private var curve: TransferCurve? {
        switch transfer {
        case 13: .sRGB
        // Cameras encode with these curves, and displays have another one.
        case 1, 6, 11, 14, 15: hasDisplayCurve ? .power(2.4) : .sRGB
        // An unspecified curve (ISO/IEC 23000-22, §7.3.6.4).
        case 2: .sRGB
        case 4: .power(2.2)
        case 5: .power(2.8)
        case 7: .smpte240
        case 8: .power(1)
        case 16: .pq
        case 17: .cinema
        case 18: .hlg
        default: nil
        }
    }
}

/// The chromaticities of a display's primaries and white (CIE 1931 x and y).
struct Chromaticities: Hashable, Sendable {
    var red, green, blue, white: SIMD2<Double>

    static let bt709 = Chromaticities(red: [0.64, 0.33], green: [0.3, 0.6], blue: [0.15, 0.06])
    static let bt2020 = Chromaticities(red: [0.708, 0.292], green: [0.17, 0.797], blue: [0.131, 0.046])

    init(
        red: SIMD2<Double>, green: SIMD2<Double>, blue: SIMD2<Double>, white: SIMD2<Double> = [0.3127, 0.329]
    ) {
        (self.red, self.green, self.blue, self.white) = (red, green, blue, white)
    }

    /// Primaries of H.273, table 2; nil if the code point is reserved.
    init?(codePoint: Int) {
        let illuminantC: SIMD2<Double> = [0.31, 0.316]
        switch codePoint {
        case 1, 2: self = .bt709
        case 4: self.init(red: [0.67, 0.33], green: [0.21, 0.71], blue: [0.14, 0.08], white: illuminantC)
        case 5: self.init(red: [0.64, 0.33], green: [0.29, 0.6], blue: [0.15, 0.06])
        case 6, 7: self.init(red: [0.63, 0.34], green: [0.31, 0.595], blue: [0.155, 0.07])
        case 8: self.init(red: [0.681, 0.319], green: [0.243, 0.692], blue: [0.145, 0.049], white: illuminantC)
        case 9: self = .bt2020
        case 10: self.init(red: [1, 0], green: [0, 1], blue: [0, 0], white: [1 / 3, 1 / 3])
        case 11: self.init(red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06], white: [0.314, 0.351])
        case 12: self = .p3
        case 22: self.init(red: [0.63, 0.34], green: [0.295, 0.605], blue: [0.155, 0.077])
        default: return nil
        }
    }

    /// The matrix from linear light of these primaries to XYZ, adapted to the white of ICC profiles; nil if they lie on
    /// a line or outside of 0…1.
    var toXYZ: ColorMatrix? {
        let points = [red, green, blue, white]
        guard points.allSatisfy({ all($0 .>= 0) && all($0 .<= 1) }), white.y > 0 else { return nil }
        let stated = points.map { SIMD3($0.x, $0.y, 1 - $0.x - $0.y) }
        let primaries = ColorMatrix(red: stated[0], green: stated[1], blue: stated[2])
        let whiteXYZ = stated[3] / white.y
        guard let inverse = primaries.inverse else { return nil }
        return ColorMatrix.adapting(from: whiteXYZ) * primaries * ColorMatrix(diagonal: inverse * whiteXYZ)
    }
}

extension ColorCode {
    /// The code as integers, in which form an image carries it as a field.
    var fields: [Int] {
        switch self {
        case .codePoints(let points):
            let flags = (points.isFullRange ? 1 : 0) + (points.hasDisplayCurve ? 2 : 0)
            return [points.primaries, points.transfer, points.matrix, flags]
                + (points.peakNits > 0 ? [points.peakNits] : [])
        case .measured(let gamma, let chromaticities):
            let points = chromaticities.map { [$0.white, $0.red, $0.green, $0.blue] } ?? []
            return [gamma] + points.flatMap { [$0.x, $0.y].map { Int(($0 * 100_000).rounded()) } }
        }
    }

    /// - Parameter fields: 4 code points and perhaps a peak, or gamma and 0 or 8 chromaticities in 1/100,000, the white
    ///   first.
    init?(fields: [Int]) {
        guard fields.count != 4, fields.count != 5 else {
            self = .codePoints(
                CodePoints(
                    primaries: fields[0], transfer: fields[1], matrix: fields[2], isFullRange: fields[3] & 1 == 1,
                    peakNits: fields.count > 4 ? fields[4] : 0, hasDisplayCurve: fields[3] & 2 == 2))
            return
        }
        guard fields.count == 1 || fields.count == 9, let gamma = fields.first, gamma > 0 else { return nil }
        let numbers = fields.map { Double($0) / 100_000 }
        func point(_ index: Int) -> SIMD2<Double> { [numbers[index], numbers[index + 1]] }
        let chromaticities =
            fields.count == 9 ? Chromaticities(red: point(3), green: point(5), blue: point(7), white: point(1)) : nil
        self = .measured(gamma: gamma, chromaticities.flatMap { $0.toXYZ == nil ? nil : $0 })
    }
}
