import Testing

@testable import DarkroomTransforms

/// One quality means one look, whatever libheif makes of it.
struct AVIFQualityTests {
    @Test func `An encoder tuned for images gets lower qualities, in the same order`() {
        let tuned = (1...100).map(AVIFQuality.tuned)
        #expect(tuned == tuned.sorted() && tuned.first == 1 && tuned.last == 100)
        #expect(zip(1...100, tuned).allSatisfy { $0 >= $1 && $0 - $1 < 10 })
        #expect(AVIFQuality.tuned(68) == 63 && AVIFQuality.tuned(62) == 58)
    }

    @Test func `Qualities are mapped from libheif 1.23 on`() {
        #expect(AVIFQuality.isTuned(libheif: (1, 23)) && AVIFQuality.isTuned(libheif: (2, 0)))
        #expect(!AVIFQuality.isTuned(libheif: (1, 22)) && !AVIFQuality.isTuned(libheif: nil))
        for quality in [1, 50, 100] {
            let expected = AVIFQuality.isTuned ? AVIFQuality.tuned(quality) : quality
            #expect(AVIFQuality.encoding(quality) == expected)
        }
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
