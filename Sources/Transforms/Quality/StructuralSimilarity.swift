/// How two images of one size differ, as numbers of which ``QualityModel`` makes a score. They are those of
/// SSIMULACRA2: errors of structure and of edges in XYB, as means and as norms that stress the worst places, at several
/// scales.
struct StructuralSimilarity {
    /// For each scale: four statistics of X, Y and B each, which are the mean and the norm of the error of structure,
    /// and the norms of edges that were added and lost.
    let features: [Double]

    /// The number of scales, each half the size of the one before.
    static let scales = 3
    /// The smallest side in pixels that leaves something to judge at the last scale.
    static let minSide = 8

    init(of image: LinearImage, to reference: LinearImage) {
        let capacity = image.width * image.height
        features = withUnsafeTemporaryAllocation(of: Float.self, capacity: Workspace.planes * capacity) { memory in
            let workspace = Workspace(memory: memory, capacity: capacity)
            var (image, reference) = (image, reference)
            var features: [Double] = []
            for scale in 0..<Self.scales {
                if scale > 0 { (image, reference) = (image.halved, reference.halved) }
                let size = (image.width, image.height)
                let statistics = zip(reference.opponentPlanes, image.opponentPlanes).map {
                    workspace.statistics($0, $1, width: size.0, height: size.1)
                }
                for index in 0..<4 { features += statistics.map { $0[index] } }
            }
            return features
        }
    }
}

/// Memory for planes, used again for all channels: allocating them takes longer than filling them.
private struct Workspace {
    let memory: UnsafeMutableBufferPointer<Float>
    /// The samples of a plane.
    let capacity: Int

    static let planes = 6
    /// Of SSIMULACRA2.
    private static let stabilizer: Float = 0.0009

    private func plane(_ index: Int) -> UnsafeMutableBufferPointer<Float> {
        UnsafeMutableBufferPointer(rebasing: memory[(index * capacity)..<((index + 1) * capacity)])
    }

    /// The four statistics of one channel.
    func statistics(_ one: [Float], _ two: [Float], width: Int, height: Int) -> [Double] {
        let (meanOne, meanTwo, squares, products) = (plane(0), plane(1), plane(2), plane(3))
        let input = plane(5)
        func blur(into result: UnsafeMutableBufferPointer<Float>, _ sample: (Float, Float) -> Float) {
            for index in one.indices { input[index] = sample(one[index], two[index]) }
            self.blur(input, into: result, width: width, height: height)
        }
        blur(into: meanOne) { first, _ in first }
        blur(into: meanTwo) { _, second in second }
        blur(into: squares) { $0 * $0 + $1 * $1 }
        blur(into: products) { $0 * $1 }
        var (sum, worst, added, lost) = (0.0, 0.0, 0.0, 0.0)
        for index in one.indices {
            let (first, second) = (meanOne[index], meanTwo[index])
            let covariance = products[index] - first * second
            let variances = squares[index] - first * first - second * second
            let shift = (first - second) * (first - second)
            let similarity = (1 - shift) * (2 * covariance + Self.stabilizer) / (variances + Self.stabilizer)
            let error = max(1 - similarity, 0)
            let edge = (1 + abs(two[index] - second)) / (1 + abs(one[index] - first)) - 1
            sum += Double(error)
            worst += Self.fourthPower(error)
            if edge > 0 { added += Self.fourthPower(edge) } else { lost += Self.fourthPower(edge) }
        }
        let count = Double(max(one.count, 1))
        return [sum / count] + [worst, added, lost].map { ($0 / count).squareRoot().squareRoot() }
    }

    private static func fourthPower(_ value: Float) -> Double {
        let square = Double(value * value)
        return square * square
    }

    /// A blur by the binomial kernel 1 4 6 4 1 in both directions; edges are repeated.
    private func blur(
        _ plane: UnsafeMutableBufferPointer<Float>, into result: UnsafeMutableBufferPointer<Float>, width: Int,
        height: Int
    ) {
        let rows = self.plane(4)
        for row in 0..<height { blurRow(plane, rows, start: row * width, width: width) }
        for row in 0..<height {
            func start(_ row: Int) -> Int { min(max(row, 0), height - 1) * width }
            let (first, second, third) = (start(row - 2), start(row - 1), start(row))
            let (fourth, fifth) = (start(row + 1), start(row + 2))
            for column in 0..<width {
                let outer = rows[first + column] + rows[fifth + column]
                let inner = rows[second + column] + rows[fourth + column]
                result[third + column] = (outer + 4 * inner + 6 * rows[third + column]) / 16
            }
        }
    }

    private func blurRow(
        _ plane: UnsafeMutableBufferPointer<Float>, _ rows: UnsafeMutableBufferPointer<Float>, start: Int, width: Int
    ) {
        func blurEdge(_ column: Int) {
            func sample(_ column: Int) -> Float { plane[start + min(max(column, 0), width - 1)] }
            let outer = sample(column - 2) + sample(column + 2)
            let inner = sample(column - 1) + sample(column + 1)
            rows[start + column] = (outer + 4 * inner + 6 * sample(column)) / 16
        }
        for column in 0..<min(2, width) { blurEdge(column) }
        for center in stride(from: start + 2, to: start + width - 2, by: 1) {
            let outer = plane[center - 2] + plane[center + 2]
            rows[center] = (outer + 4 * (plane[center - 1] + plane[center + 1]) + 6 * plane[center]) / 16
        }
        for column in max(width - 2, 2)..<max(width, 2) { blurEdge(column) }
    }
}
