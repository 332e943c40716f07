import Foundation

/// Reproduces the losses of JPEG: transforms square blocks of samples by cosines and rounds the coefficients to
/// multiples of steps.
///
/// `Row` is a row of a block, so that blocks have as many rows as it has samples.
struct BlockRounding<Row: SIMD & BitwiseCopyable & Sendable>: Sendable where Row.Scalar == Float {
    /// The samples of each cosine.
    private let cosines: [Row]
    /// The values of all cosines at each sample.
    private let transposed: [Row]
    private let steps: [Row]
    private let reciprocals: [Row]

    /// - Parameter step: returns the step of the coefficient in a row and a column.
    init(_ step: (_ row: Int, _ column: Int) -> Float) {
        let side = Row.scalarCount
        func cosine(_ frequency: Int, _ sample: Int) -> Float {
            let scale = (frequency == 0 ? 1.0 : 2.0) / Double(side)
            return Float(scale.squareRoot() * cos(Double((2 * sample + 1) * frequency) * .pi / Double(2 * side)))
        }
        func rows(_ value: (_ row: Int, _ column: Int) -> Float) -> [Row] {
            (0..<side).map { row in Row((0..<side).map { value(row, $0) }) }
        }
        cosines = rows(cosine)
        transposed = rows { cosine($1, $0) }
        steps = rows(step)
        reciprocals = rows { 1 / step($0, $1) }
    }

    func apply(to plane: Plane, width: Int, height: Int) {
        let side = Row.scalarCount
        withUnsafeTemporaryAllocation(of: Row.self, capacity: 2 * side) { memory in
            let block = UnsafeMutableBufferPointer(rebasing: memory[..<side])
            let other = UnsafeMutableBufferPointer(rebasing: memory[side...])
            for top in stride(from: 0, through: height - side, by: side) {
                for left in stride(from: 0, through: width - side, by: side) {
                    let start = top * width + left
                    for row in 0..<side { block[row] = plane.load(start + row * width, as: Row.self) }
                    transform(block, by: transposed, cosines, other)
                    for row in 0..<side {
                        // Adding so much drops the fraction. The processor has no faster way to round.
                        let rounded = block[row] * reciprocals[row] + Self.roundingOffset - Self.roundingOffset
                        block[row] = rounded * steps[row]
                    }
                    transform(block, by: cosines, transposed, other)
                    for row in 0..<side { plane.store(block[row], at: start + row * width) }
                }
            }
        }
    }

    private static var roundingOffset: Float { 12_582_912 }

    /// Multiplies a block by a matrix on the right, and by its transpose on the left.
    private func transform(
        _ block: UnsafeMutableBufferPointer<Row>, by matrix: [Row], _ transpose: [Row],
        _ other: UnsafeMutableBufferPointer<Row>
    ) {
        matrix.withUnsafeBufferPointer { Self.multiply(UnsafeBufferPointer(block), $0, into: other) }
        transpose.withUnsafeBufferPointer { Self.multiply($0, UnsafeBufferPointer(other), into: block) }
    }

    @inline(__always)
    private static func multiply(
        _ left: UnsafeBufferPointer<Row>, _ right: UnsafeBufferPointer<Row>,
        into product: UnsafeMutableBufferPointer<Row>
    ) {
        for row in 0..<Row.scalarCount {
            let factors = left[row]
            var sum = right[0] * factors[0]
            for index in 1..<Row.scalarCount { sum += right[index] * factors[index] }
            product[row] = sum
        }
    }
}

/// The steps of JPEG's example tables (ITU-T T.81 annex K), at quality 70.
enum QuantizationTable {
    static func luminance(_ row: Int, _ column: Int) -> Float { scaled(luminanceSteps[row * 4 + column]) }

    static func chrominance(_ row: Int, _ column: Int) -> Float {
        scaled(row < 4 && column < 4 ? chrominanceSteps[row * 4 + column] : 99)
    }

    private static func scaled(_ step: Int) -> Float { Float((step * 60 + 50) / 100) }

    /// The steps that are in use: for the four lowest frequencies in each direction.
    private static let luminanceSteps = [
        16, 11, 10, 16, 12, 12, 14, 19, 14, 13, 16, 24, 14, 17, 22, 29,
    ]
    /// All others are 99.
    private static let chrominanceSteps = [
        17, 18, 24, 47, 18, 21, 26, 66, 24, 26, 56, 99, 47, 66, 99, 99,
    ]
}
