import DarkroomRequests
import DarkroomVips

/// Predicts scores from a stripe comparison of an image in one format: a score like SSIMULACRA2's at a medium quality,
/// and from it the scores at other qualities. Fitted to photographs; docs/quality.md reports how well.
struct QualityModel {
    /// The score of a lossless image, by the line that is fitted to lossy images.
    let bias: Double
    /// The weights of the square roots of the features.
    let weights: [Double]
    /// Qualities in ascending order, each with its score as a linear function of the score at the medium quality.
    let knots: [(quality: Int, intercept: Double, slope: Double)]

    /// The lowest quality with a score, interpolated between the known scores.
    ///
    /// - Parameter middling: the score at the medium quality.
    func quality(scoring goal: Double, of middling: Double) -> Int {
        var (below, belowScore) = (knots[0].quality, knots[0].intercept + knots[0].slope * middling)
        guard belowScore < goal else { return below }
        for (quality, intercept, slope) in knots.dropFirst() {
            let score = intercept + slope * middling
            // Scores are equal or fall only for an extreme image, where lines cross.
            guard score > belowScore else { continue }
            if score >= goal {
                let share = (goal - belowScore) / (score - belowScore)
                return below + Int((share * Double(quality - below)).rounded(.up))
            }
            (below, belowScore) = (quality, score)
        }
        return knots[knots.count - 1].quality
    }

    /// The lowest quality at which an image with these features of ``StructuralSimilarity`` looks as the target says.
    func quality(for target: QualityTarget, _ features: [Double]) -> Int {
        quality(scoring: target.score, of: score(features))
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

/// Printed by Benchmarks/quality/fit.py.
extension QualityModel {
    static let jpeg = QualityModel(
        bias: 103.062,
        weights: [
            -48.074, -3.033, -21.959, -121.112, -6.051, -46.938, -18.242, -2.730, 7.775, -7.290, 26.503, 42.881,
            33.171, 17.828, -81.488, -4.939, -18.003, -132.419, -55.509, -12.083, -36.413, -30.540, 71.319, -20.146,
            32.644, -9.491, -39.333, -35.893,
        ],
        knots: [
            (30, -39.91, 1.2236), (45, -31.67, 1.2657), (60, -18.41, 1.1705), (70, -8.58, 1.1025), (78, 1.69, 1.0193),
            (84, 14.42, 0.8912), (90, 66.23, 0.2933), (95, 84.12, 0.1004),
        ])

    static let webp = QualityModel(
        bias: 83.594,
        weights: [
            -96.045, 0.124, -4.398, -63.158, -12.409, -57.125, -14.123, -4.906, 14.792, 1.750, 39.916, 81.876, 23.533,
            5.757, -45.263, -10.555, -34.300, -198.528, -39.251, -0.034, -7.156, -3.806, 55.398, 190.178, 76.892,
            19.180, -62.007, -11.516,
        ],
        knots: [
            (30, -119.97, 2.3855), (50, -62.46, 1.7428), (65, -32.63, 1.4028), (76, -9.95, 1.1435),
            (84, 20.72, 0.8067), (92, 47.96, 0.5109),
        ])

    static let avif = QualityModel(
        bias: 81.456,
        weights: [
            -118.163, 0.370, -49.189, -64.478, -8.737, -62.264, -14.821, -4.667, 21.934, -0.343, 34.639, 64.543,
            23.673, 8.765, -4.354, -17.777, -21.705, -201.738, -57.750, 1.707, -9.641, -0.377, 32.069, 269.481,
            81.241, 22.736, 49.993, 0.830,
        ],
        knots: [
            (30, -215.07, 3.4453), (45, -98.27, 2.1487), (57, -23.28, 1.2970), (68, 13.63, 0.8786),
            (80, 41.61, 0.5712),
        ])

    static let avifTunedForImages = QualityModel(
        bias: 92.220,
        weights: [
            -110.679, 14.213, -174.012, -164.489, -16.403, -11.497, -36.041, 1.020, 41.683, -3.608, 39.977, 57.011,
            48.015, 15.887, -21.849, -3.359, -30.153, -104.452, -74.750, 3.080, 46.548, -11.267, 48.681, 202.650,
            10.467, 21.589, 71.232, 18.647,
        ],
        knots: [
            (30, -239.07, 3.7653), (45, -107.03, 2.2681), (57, -26.43, 1.3355), (68, 23.21, 0.7567),
            (80, 48.88, 0.4709),
        ])

    static let jxl = QualityModel(
        bias: 86.228,
        weights: [
            -103.507, 3.553, -51.796, -118.499, -13.156, -30.691, -19.746, -0.821, 38.386, -1.110, 46.107, 87.093,
            40.573, 4.742, -63.738, -13.668, -42.928, -149.949, -50.843, -9.313, 39.690, -3.373, 85.839, 256.862,
            69.957, -2.359, -69.804, -20.681,
        ],
        knots: [
            (45, -92.64, 2.0749), (62, -50.48, 1.5940), (75, -2.62, 1.0650), (85, 33.82, 0.6575), (92, 60.42, 0.3729),
        ])
}

/// Qualities as numbers of the installed AVIF encoder.
///
/// The same number looks better, and takes more bytes, at an effort of 3 or more than at a lower one, and where libheif
/// has libaom tune AVIF for images. Requests and models use the numbers of libaom 3.6 at effort 2, so that a number has
/// the same visual quality on all systems and for images of all sizes.
enum AVIFQuality {
    /// Whether the encoder is tuned for images.
    static let isTuned = isTuned(libheif: HEIFCodec.libraryVersion, libaom: HEIFCodec.libaomVersion)

    /// libheif tunes from version 1.23 on, with libaom 3.13 and later.
    ///
    /// - Parameters:
    ///   - libheif: its version, as major and minor; nil = unknown.
    ///   - libaom: likewise.
    static func isTuned(libheif: (major: Int, minor: Int)?, libaom: (major: Int, minor: Int)?) -> Bool {
        (libheif.map { $0 >= (1, 23) } ?? false) && (libaom.map { $0 >= (3, 13) } ?? false)
    }

    /// The encoder's number for a quality of 1…100: the number at which photographs have the same SSIMULACRA2 score on
    /// average.
    static func encoding(_ quality: Int, effort: Int, isTuned: Bool = isTuned) -> Int {
        let isThorough = effort >= 3
        let numbers = isTuned ? (isThorough ? tunedThorough : tuned) : isThorough ? thorough : usual
        let next = max(usual.firstIndex { $0 >= quality } ?? usual.count - 1, 1)
        let share = Double(quality - usual[next - 1]) / Double(usual[next] - usual[next - 1])
        return Int((Double(numbers[next - 1]) + share * Double(numbers[next] - numbers[next - 1])).rounded())
    }

    /// Qualities in ascending order. Numbers between them are interpolated.
    private static let usual = [1, 20, 30, 45, 57, 68, 80, 92, 100]
    /// The numbers with the same look from effort 3 on.
    private static let thorough = [1, 18, 27, 42, 54, 64, 78, 92, 100]
    /// The numbers with the same look of an encoder tuned for images.
    private static let tuned = [1, 11, 24, 41, 53, 63, 74, 91, 100]
    private static let tunedThorough = [1, 10, 21, 39, 50, 60, 71, 91, 100]
}
