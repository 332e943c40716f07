/// The color space XYB of JPEG XL and SSIMULACRA2, moved to positive numbers: X is a difference of red and green, Y is
/// lightness, and B a difference of blue and lightness.
///
/// The input planes are red, green and blue in linear light of 0…1. Counts of samples are multiples of four.
enum OpponentColor {
    private typealias Vector = SIMD4<Float>

    /// Y of `count` pixels.
    static func lightness(of light: [Plane], into result: Plane, count: Int) {
        let (reds, greens, blues) = (light[0], light[1], light[2])
        for index in stride(from: 0, to: count, by: Vector.scalarCount) {
            let (long, middle) = responses(
                reds.load(index, as: Vector.self), greens.load(index, as: Vector.self),
                blues.load(index, as: Vector.self))
            result.store((long + middle) * 0.5 + 0.01, at: index)
        }
    }

    /// X, Y and B of `count` pixels.
    static func convert(_ light: [Plane], into result: [Plane], count: Int) {
        let (reds, greens, blues) = (light[0], light[1], light[2])
        let (x, y, b) = (result[0], result[1], result[2])
        for index in stride(from: 0, to: count, by: Vector.scalarCount) {
            let red = reds.load(index, as: Vector.self)
            let green = greens.load(index, as: Vector.self)
            let blue = blues.load(index, as: Vector.self)
            let (long, middle) = responses(red, green, blue)
            let short = response(0.243_422_69 * red + 0.204_767_44 * green + 0.551_809_87 * blue)
            let lightness = (long + middle) * 0.5
            x.store((long - middle) * 7 + 0.42, at: index)
            y.store(lightness + 0.01, at: index)
            b.store(short - lightness + 0.55, at: index)
        }
    }

    /// The responses of the receptors of long and middle waves.
    @inline(__always)
    private static func responses(_ red: Vector, _ green: Vector, _ blue: Vector) -> (long: Vector, middle: Vector) {
        (response(0.3 * red + 0.622 * green + 0.078 * blue), response(0.23 * red + 0.692 * green + 0.078 * blue))
    }

    /// The response of a receptor: a cube root within 0.003 %, by one step of Halley's method from a third of the
    /// exponent.
    @inline(__always)
    private static func response(_ light: Vector) -> Vector {
        let value = light + bias
        let bits = unsafeBitCast(value, to: SIMD4<Int32>.self)
        let third = (bits &>> 2) &+ (bits &>> 4) &+ (bits &>> 6) &+ (bits &>> 8) &+ exponentOffset
        let guess = unsafeBitCast(third, to: Vector.self)
        let cube = guess * guess * guess
        return guess * (cube + 2 * value) / (2 * cube + value) - biasRoot
    }

    /// The remainder of the exponent of 1 after its third, and a correction that balances errors to both sides.
    private static let exponentOffset: Int32 = 711_352_906
    /// The bias of JPEG XL's opsin absorbance.
    private static let bias: Float = 0.003_793_073_3
    private static let biasRoot: Float = 0.155_954_2
}
