import DarkroomVips

/// What a trial encode says of an image: a score like that of SSIMULACRA2, and from it the scores of the same image at
/// other qualities. Fitted to photographs for each format; docs/quality.md says how well.
struct QualityModel {
    /// The saver's options for the trial: those of a quick encode at a middling quality.
    let trialArguments: KeyValuePairs<String, VipsValue>
    let lines: Lines

    /// The scores of one format's qualities, each on a line over that of the trial.
    struct Lines {
        /// In ascending order.
        let qualities: [Int]
        let intercepts: [Double]
        let slopes: [Double]

        /// The lowest quality with this score, between the known ones by interpolation.
        func quality(scoring goal: Double, of trial: Double) -> Int {
            var (below, belowScore) = (qualities[0], intercepts[0] + slopes[0] * trial)
            guard belowScore < goal else { return below }
            for index in qualities.indices.dropFirst() {
                let (quality, score) = (qualities[index], intercepts[index] + slopes[index] * trial)
                // Equal or falling scores are those of an extreme trial, where lines cross.
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

    /// Nil for a format without quality.
    init?(of format: OutputFormat) {
        switch format {
        case .jpeg:
            trialArguments = ["Q": 70, "strip": true]
            lines = Self.jpegLines
        case .webp:
            trialArguments = ["Q": 70, "effort": 0, "strip": true]
            lines = Self.webpLines
        case .avif:
            trialArguments = ["Q": 55, "effort": 0, "compression": "av1", "bitdepth": 8, "strip": true]
            lines = Self.avifLines
        case .jxl:
            trialArguments = ["Q": 70, "effort": 3, "strip": true]
            lines = Self.jxlLines
        case .png, .gif, .tiff, .json, .blurHash, .thumbHash, .color, .lqip: return nil
        }
    }

    /// The lowest quality at which an image with this trial looks as the target says.
    func quality(for target: QualityTarget, _ trial: StructuralSimilarity) -> Int {
        lines.quality(scoring: target.score, of: Self.score(of: trial))
    }

    /// About the SSIMULACRA2 score of a trial.
    static func score(of trial: StructuralSimilarity) -> Double {
        zip(trial.features, weights).reduce(bias) { $0 + $1.0.squareRoot() * $1.1 }
    }
}

extension QualityTarget {
    /// The SSIMULACRA2 score that the target stands for. At the default qualities, photographs of 400 pixels have about
    /// 77 on average.
    var score: Double {
        switch self {
        case .high: 82
        case .medium: 75
        case .low: 65
        }
    }
}
