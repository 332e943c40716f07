import DarkroomVips

/// Qualities as numbers of the installed AVIF encoder.
///
/// From version 1.23 on, libheif has libaom tune AVIF for images: the same number looks better and takes more bytes.
/// Requests and models use the numbers of earlier encoders, so that a number has the same visual quality on all
/// systems.
enum AVIFQuality {
    /// Whether the encoder is tuned for images.
    static let isTuned = isTuned(libheif: HEIFCodec.libraryVersion)

    /// - Parameter version: of libheif, as major and minor; nil = unknown.
    static func isTuned(libheif version: (major: Int, minor: Int)?) -> Bool {
        version.map { $0 >= (1, 23) } ?? false
    }

    /// The encoder's number for a quality of 1…100.
    static func encoding(_ quality: Int) -> Int { isTuned ? tuned(quality) : quality }

    /// The number of an encoder tuned for images at which photographs have the same SSIMULACRA2 score on average.
    static func tuned(_ quality: Int) -> Int {
        let next = max(qualities.firstIndex { $0.usual >= quality } ?? qualities.count - 1, 1)
        let (low, high) = (qualities[next - 1], qualities[next])
        let share = Double(quality - low.usual) / Double(high.usual - low.usual)
        return Int((Double(low.tuned) + share * Double(high.tuned - low.tuned)).rounded())
    }

    /// Pairs of numbers with the same look at 400 pixels, in ascending order. Numbers between them are interpolated.
    private static let qualities: [(usual: Int, tuned: Int)] = [
        (1, 1), (20, 11), (30, 24), (45, 41), (57, 53), (68, 63), (80, 74), (92, 91), (100, 100),
    ]
}
