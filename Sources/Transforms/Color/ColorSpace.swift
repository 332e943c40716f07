/// A color space of red, green and blue, or of gray, that can be converted to sRGB.
struct ColorSpace: Hashable, Sendable {
    /// From linear light to XYZ relative to the white of ICC profiles.
    var toXYZ: ColorMatrix
    var curve: TransferCurve
    /// How the light of HDR becomes SDR.
    var toneMapping = ToneMapping()

    static let sRGB = ColorSpace(
        toXYZ: ColorMatrix(
            red: [0.43607, 0.22250, 0.01393], green: [0.38506, 0.71688, 0.09710], blue: [0.14308, 0.06062, 0.71417]),
        curve: .sRGB)

    /// The matrix to linear light of other primaries; nil = the primaries are the same, or the others are none.
    func matrix(to primaries: Chromaticities) -> ColorMatrix? {
        guard let inverse = primaries.toXYZ?.inverse else { return nil }
        let matrix = inverse * toXYZ
        return matrix.isIdentity ? nil : matrix
    }

    var isSRGB: Bool { curve == .sRGB && matrix(to: .bt709) == nil }
}

/// A matrix of three rows and columns that converts linear colors.
struct ColorMatrix: Hashable, Sendable {
    /// The columns: what red, green and blue become.
    var red, green, blue: SIMD3<Double>

    init(red: SIMD3<Double>, green: SIMD3<Double>, blue: SIMD3<Double>) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    init(diagonal: SIMD3<Double>) {
        self.init(red: [diagonal.x, 0, 0], green: [0, diagonal.y, 0], blue: [0, 0, diagonal.z])
    }

    static func * (matrix: ColorMatrix, color: SIMD3<Double>) -> SIMD3<Double> {
        matrix.red * color.x + matrix.green * color.y + matrix.blue * color.z
    }

    static func * (left: ColorMatrix, right: ColorMatrix) -> ColorMatrix {
        ColorMatrix(red: left * right.red, green: left * right.green, blue: left * right.blue)
    }

    /// Nil if the columns lie in a plane.
    var inverse: ColorMatrix? {
        let rows = [Self.cross(green, blue), Self.cross(blue, red), Self.cross(red, green)]
        let determinant = (red * rows[0]).sum()
        guard abs(determinant) > 1e-6 else { return nil }
        func column(_ index: Int) -> SIMD3<Double> {
            SIMD3(rows[0][index], rows[1][index], rows[2][index]) / determinant
        }
        return ColorMatrix(red: column(0), green: column(1), blue: column(2))
    }

    /// The rows, as libvips takes a matrix.
    var rows: [[Double]] { (0..<3).map { [red[$0], green[$0], blue[$0]] } }

    /// Whether it changes no color visibly.
    var isIdentity: Bool {
        let identity: [[Double]] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        return zip(rows.joined(), identity.joined()).allSatisfy { abs($0 - $1) < 0.001 }
    }

    /// The adaptation of XYZ from a white to the white of ICC profiles, D50 (Bradford; ICC.1:2022, annex E).
    static func adapting(from white: SIMD3<Double>) -> ColorMatrix {
        let cones = ColorMatrix(
            red: [0.8951, -0.7502, 0.0389], green: [0.2664, 1.7135, -0.0685], blue: [-0.1614, 0.0367, 1.0296])
        let source = cones * white
        // Extreme chromaticities of the white have no cone response to divide by.
        guard let back = cones.inverse, all(source .> 1e-6) else { return ColorMatrix(diagonal: [1, 1, 1]) }
        return back * ColorMatrix(diagonal: cones * [0.9642, 1, 0.8249] / source) * cones
    }

    private static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
        [a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x]
    }
}
