/// Predicts scores from a stripe comparison of an image in one format: a score like SSIMULACRA2's at a medium quality,
/// and from it the scores at other qualities. Fitted to photographs; docs/quality.md reports how well.
struct QualityModel {
    /// The score of a lossless image, by the line that is fitted to lossy images.
    let bias: Double
    /// The weights of the square roots of the features.
    let weights: [Double]
    let lines: Lines

    /// The scores of one format's qualities, each as a linear function of the score at the medium quality.
    struct Lines {
        /// In ascending order.
        let qualities: [Int]
        let intercepts: [Double]
        let slopes: [Double]

        /// The lowest quality with this score, interpolated between the known scores.
        func quality(scoring goal: Double, of middling: Double) -> Int {
            var (below, belowScore) = (qualities[0], intercepts[0] + slopes[0] * middling)
            guard belowScore < goal else { return below }
            for index in qualities.indices.dropFirst() {
                let (quality, score) = (qualities[index], intercepts[index] + slopes[index] * middling)
                // Scores are equal or fall only for an extreme image, where lines cross.
                guard score > belowScore else { continue }
                if score >= goal {
                    let share = (goal - belowScore) / (score - belowScore)
                    return below + Int((share * Double(quality - below)).rounded(.up))
                }
                (below, belowScore) = (quality, score)
            }
            return qualities[qualities.count - 1]
        }
    }

    /// The lowest quality at which an image with these features of ``StructuralSimilarity`` looks as the target says.
    func quality(for target: QualityTarget, _ features: [Double]) -> Int {
        lines.quality(scoring: target.score, of: score(features))
    }

    /// Approximately the SSIMULACRA2 score at the medium quality.
    func score(_ features: [Double]) -> Double {
        zip(features, weights).reduce(bias) { $0 + $1.0.squareRoot() * $1.1 }
    }
}

extension QualityTarget {
    /// The SSIMULACRA2 score that the target means. At the default qualities, photographs of 400 pixels have about 77
    /// on average.
    var score: Double {
        switch self {
        case .high: 82
        case .medium: 75
        case .low: 65
        }
    }
}
