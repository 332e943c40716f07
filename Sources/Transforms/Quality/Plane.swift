/// One channel of a few rows of an image, row by row. The memory belongs to a ``StripeWorkspace``.
struct Plane {
    let samples: UnsafeMutableBufferPointer<Float>

    subscript(index: Int) -> Float {
        get { samples[index] }
        nonmutating set { samples[index] = newValue }
    }

    /// As many samples as a vector holds, from `index` on.
    @inline(__always)
    func load<Vector: SIMD & BitwiseCopyable>(_ index: Int, as: Vector.Type) -> Vector where Vector.Scalar == Float {
        UnsafeRawBufferPointer(samples).loadUnaligned(fromByteOffset: index * Self.sampleBytes, as: Vector.self)
    }

    @inline(__always)
    func store<Vector: SIMD & BitwiseCopyable>(_ vector: Vector, at index: Int) where Vector.Scalar == Float {
        UnsafeMutableRawBufferPointer(samples).storeBytes(
            of: vector, toByteOffset: index * Self.sampleBytes, as: Vector.self)
    }

    /// Shrinks both sides by means of four samples, in place.
    func halve(width: Int, height: Int) {
        let columns = width / 2
        for row in 0..<height / 2 {
            for column in 0..<columns {
                let start = row * 2 * width + column * 2
                let sum = samples[start] + samples[start + 1] + samples[start + width] + samples[start + width + 1]
                samples[row * columns + column] = sum / 4
            }
        }
    }

    private static let sampleBytes = MemoryLayout<Float>.stride
}

/// The memory of the planes of one stripe, used again for all stripes of an image.
struct StripeWorkspace {
    private let memory: UnsafeMutableBufferPointer<Float>
    private let capacity: Int

    private static let count = 16

    /// Runs `body` with memory for planes of at most `capacity` samples.
    static func with<Result>(capacity: Int, _ body: (StripeWorkspace) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: count * capacity) { memory in
            body(StripeWorkspace(memory: memory, capacity: capacity))
        }
    }

    /// Red, green and blue of the original: 0…255, then linear light of 0…1.
    var original: [Plane] { planes(0..<3) }
    /// Lightness and color differences of the coded image, then its red, green and blue in linear light.
    var coded: [Plane] { planes(3..<6) }
    /// X, Y and B of the original.
    var originalXYB: [Plane] { planes(6..<9) }
    /// X, Y and B of the coded image.
    var codedXYB: [Plane] { planes(9..<12) }
    /// For the two means, the squares and the products.
    var blurred: [Plane] { planes(12..<16) }

    private func planes(_ range: Range<Int>) -> [Plane] {
        range.map {
            Plane(samples: UnsafeMutableBufferPointer(rebasing: memory[($0 * capacity)..<(($0 + 1) * capacity)]))
        }
    }
}
