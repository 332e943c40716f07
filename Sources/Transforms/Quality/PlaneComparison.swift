/// Compares two planes, whose widths are multiples of four.
struct PlaneComparison {
    private typealias Vector = SIMD4<Float>

    private let means: (Plane, Plane)
    private let squares: Plane
    private let products: Plane

    /// - Parameter planes: four planes of memory.
    init(_ planes: [Plane]) {
        means = (planes[0], planes[1])
        (squares, products) = (planes[2], planes[3])
    }

    /// The sums of errors of structure, of their fourth powers, and of the fourth powers of edges that were added and
    /// lost.
    func sums(_ one: Plane, _ two: Plane, width: Int, height: Int) -> SIMD4<Double> {
        blurRows(one, two, width: width, height: height)
        var sums = SIMD4<Double>.zero
        for row in 0..<height {
            var (errors, worst, added, lost) = (Vector.zero, Vector.zero, Vector.zero, Vector.zero)
            let column = BlurredColumn(row, width: width, height: height)
            for index in stride(from: 0, to: width, by: Vector.scalarCount) {
                let (first, second) = (column.blur(means.0, index), column.blur(means.1, index))
                let (square, product) = (first * first + second * second, first * second)
                let covariance = column.blur(products, index) - product
                let variances = column.blur(squares, index) - square
                let similarity =
                    (1 - square + 2 * product) * (2 * covariance + Self.stabilizer) / (variances + Self.stabilizer)
                let error = positive(1 - similarity)
                let firstEdge = magnitude(one.load(row * width + index, as: Vector.self) - first)
                let secondEdge = magnitude(two.load(row * width + index, as: Vector.self) - second)
                let edge = (1 + secondEdge) / (1 + firstEdge) - 1
                errors += error
                worst += fourthPower(error)
                added += fourthPower(positive(edge))
                lost += fourthPower(positive(-edge))
            }
            sums += SIMD4(Double(errors.sum()), Double(worst.sum()), Double(added.sum()), Double(lost.sum()))
        }
        return sums
    }

    /// The constant of SSIMULACRA2.
    private static let stabilizer: Float = 0.0009

    private func positive(_ vector: Vector) -> Vector { vector.replacing(with: 0, where: vector .< 0) }

    private func magnitude(_ vector: Vector) -> Vector { vector.replacing(with: -vector, where: vector .< 0) }

    private func fourthPower(_ vector: Vector) -> Vector {
        let square = vector * vector
        return square * square
    }

    /// Blurs along rows: both planes, the sums of their squares, and their products.
    private func blurRows(_ one: Plane, _ two: Plane, width: Int, height: Int) {
        let padded = width + 4
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 4 * padded) { memory in
            let rows = (0..<4).map { Plane(samples: .init(rebasing: memory[($0 * padded)..<(($0 + 1) * padded)])) }
            let (firsts, seconds, squares, products) = (rows[0], rows[1], rows[2], rows[3])
            for start in stride(from: 0, to: width * height, by: width) {
                for index in 0..<padded {
                    // Edges are repeated.
                    let column = start + min(max(index - 2, 0), width - 1)
                    let (first, second) = (one[column], two[column])
                    firsts[index] = first
                    seconds[index] = second
                    squares[index] = first * first + second * second
                    products[index] = first * second
                }
                for column in stride(from: 0, to: width, by: Vector.scalarCount) {
                    means.0.store(blurred(firsts, column), at: start + column)
                    means.1.store(blurred(seconds, column), at: start + column)
                    self.squares.store(blurred(squares, column), at: start + column)
                    self.products.store(blurred(products, column), at: start + column)
                }
            }
        }
    }

    /// The binomial kernel 1 4 6 4 1, along a row.
    @inline(__always)
    private func blurred(_ row: Plane, _ start: Int) -> Vector {
        let outer = row.load(start, as: Vector.self) + row.load(start + 4, as: Vector.self)
        let inner = row.load(start + 1, as: Vector.self) + row.load(start + 3, as: Vector.self)
        return (outer + 4 * inner + 6 * row.load(start + 2, as: Vector.self)) * 0.0625
    }
}

/// The same kernel across rows, for one of them.
private struct BlurredColumn {
    /// Where the five rows begin. Edges are repeated.
    private let starts: (Int, Int, Int, Int, Int)

    init(_ row: Int, width: Int, height: Int) {
        func start(_ row: Int) -> Int { min(max(row, 0), height - 1) * width }
        starts = (start(row - 2), start(row - 1), start(row), start(row + 1), start(row + 2))
    }

    @inline(__always)
    func blur(_ plane: Plane, _ column: Int) -> SIMD4<Float> {
        func samples(_ start: Int) -> SIMD4<Float> { plane.load(start + column, as: SIMD4<Float>.self) }
        let (outer, inner) = (samples(starts.0) + samples(starts.4), samples(starts.1) + samples(starts.3))
        return (outer + 4 * inner + 6 * samples(starts.2)) * 0.0625
    }
}
