import DarkroomRequests
import Testing

@testable import DarkroomTransforms

/// The rows of encoders and the traits of requests say the same of a format.
struct OutputFormatTests {
    @Test(arguments: OutputFormat.allCases)
    func `What requests are told of a format is what its encoder does`(format: OutputFormat) {
        #expect(format.isText == (format.row.saver == nil))
        #expect(format.traits.isJudged == (format.row.qualityModel != nil))
        #expect(format.traits.holdsSources == (format.row.stripped != nil || format.row.transcoding != nil))
    }

    @Test func `A source format is spelled as the output format of its name`() {
        #expect(SourceFormat.names == "JPEG, PNG, WebP, GIF, AVIF, HEIC, JPEG XL, TIFF, SVG, BMP or ICO")
        #expect(OutputFormat.names("and") { _ in true } == "JPEG, PNG, WebP, AVIF, GIF, JPEG XL and TIFF")
    }
}
