/// The difference of an image and its encoded form, as numbers from which ``QualityModel`` computes a score. The
/// numbers are SSIMULACRA2's: errors of structure and of edges in XYB, as means and as norms that stress the worst
/// places, at several scales.
struct StructuralSimilarity {
    /// For each scale and channel: the sums of errors, of their fourth powers, and of the fourth powers of edges that
    /// were added and lost.
    private var sums = [SIMD4<Double>](repeating: .zero, count: Self.scales * 3)
    /// The samples of a channel at each scale.
    private var counts = [Int](repeating: 0, count: Self.scales)

    /// The number of scales, each half the size of the previous scale.
    static let scales = 3

    /// Four statistics for each scale: the mean and the norm of the error of structure, and the norms of edges that
    /// were added and lost. Each is one number for Y at the first scale, where the other channels count little, and
    /// three numbers for X, Y and B at the other scales.
    var features: [Double] {
        var features: [Double] = []
        for scale in 0..<Self.scales {
            let count = Double(max(counts[scale], 1))
            let channels = (scale == 0 ? 1..<2 : 0..<3).map { sums[scale * 3 + $0] / count }
            features += channels.map { $0[0] }
            for index in 1..<4 { features += channels.map { $0[index].squareRoot().squareRoot() } }
        }
        return features
    }

    /// Adds a stripe.
    ///
    /// - Parameter workspace: has the linear light of both images, which is shrunk.
    mutating func add(_ workspace: StripeWorkspace, width: Int, height: Int) {
        let (original, coded) = (workspace.original, workspace.coded)
        let (originalXYB, codedXYB) = (workspace.originalXYB, workspace.codedXYB)
        let comparison = PlaneComparison(workspace.blurred)
        var (width, height) = (width, height)
        for scale in 0..<Self.scales {
            if scale == 0 {
                OpponentColor.lightness(of: original, into: originalXYB[1], count: width * height)
                OpponentColor.lightness(of: coded, into: codedXYB[1], count: width * height)
            } else {
                for plane in original + coded { plane.halve(width: width, height: height) }
                (width, height) = (width / 2, height / 2)
                OpponentColor.convert(original, into: originalXYB, count: width * height)
                OpponentColor.convert(coded, into: codedXYB, count: width * height)
            }
            for channel in scale == 0 ? 1..<2 : 0..<3 {
                sums[scale * 3 + channel] += comparison.sums(
                    originalXYB[channel], codedXYB[channel], width: width, height: height)
            }
            counts[scale] += width * height
        }
    }
}
