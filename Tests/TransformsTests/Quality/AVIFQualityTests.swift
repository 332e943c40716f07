import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

/// One quality means one look, whatever libheif makes of it.
struct AVIFQualityTests {
    @Test(arguments: [(2, true), (3, true), (3, false), (9, false)])
    func `An encoder that does better with the same number gets lower numbers, in the same order`(
        _ effort: Int, _ isTuned: Bool
    ) {
        let numbers = (1...100).map { AVIFQuality.encoding($0, effort: effort, isTuned: isTuned) }
        #expect(numbers == numbers.sorted() && numbers.first == 1 && numbers.last == 100)
        #expect(zip(1...100, numbers).allSatisfy { $0 >= $1 && $0 - $1 < 12 })
    }

    @Test func `The default quality looks the same at all efforts and on all systems`() throws {
        let usual = try #require(OutputFormat.avif.defaultQuality)
        let numbers = [2, 3].map { effort in
            [false, true].map { AVIFQuality.encoding(usual, effort: effort, isTuned: $0) }
        }
        #expect(numbers == [[67, 62], [63, 59]])
        #expect((1...100).allSatisfy { AVIFQuality.encoding($0, effort: 0, isTuned: false) == $0 })
    }

    @Test func `Encoders are tuned from libheif 1.23 on, with libaom 3.13 and later`() {
        #expect(AVIFQuality.isTuned(libheif: (1, 23), libaom: (3, 13)))
        #expect(AVIFQuality.isTuned(libheif: (2, 0), libaom: (4, 0)))
        // Debian 13.
        #expect(!AVIFQuality.isTuned(libheif: (1, 23), libaom: (3, 12)))
        #expect(!AVIFQuality.isTuned(libheif: (1, 22), libaom: (3, 13)))
        #expect(!AVIFQuality.isTuned(libheif: nil, libaom: nil))
    }

    @Test func `The version of libaom is known where it encodes`() {
        guard AVIFEncoder.hasLosslessMode else { return }
        #expect(HEIFCodec.libaomVersion.map { $0 >= (3, 0) } == true)
    }

    @Test func `Both encoders have keys of their own`() {
        let epochs = [false, true].map { EncoderEpoch.digest("", ["libheif 1"], tunesAVIF: $0) }
        #expect(epochs[0] != epochs[1])
        #expect(EncoderEpoch.digest("", ["libheif 1.23.6"], tunesAVIF: true) != epochs[1])
    }

    @Test func `The model of the tuned encoder has a number for each feature and each quality`() {
        let model = QualityModel.avifTunedForImages
        #expect(model.weights.count == StructuralSimilarity().features.count)
        for trial in [55.0, 65, 75] {
            let scores = model.knots.map { $0.intercept + $0.slope * trial }
            #expect(scores == scores.sorted())
        }
    }
}
