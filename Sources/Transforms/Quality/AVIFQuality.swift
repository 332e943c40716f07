import DarkroomVips

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
