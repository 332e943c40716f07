import DarkroomTransforms
import Testing

@testable import DarkroomWeb

struct NegotiationTests {
    @Test(arguments: [
        "image/webp", "IMAGE/WebP", "image/avif,image/webp,*/*;q=0.8", " image/webp ", "image/webp;q=0.001",
        "image/webp; q=1.000", "image/webp;Q=0.5", "text/html,image/webp;v=1;q=0.2", "image/webp;q=0, image/webp",
        #"text/plain;x="a,b;c\"";q=0, image/webp"#, "image/webp\t;q=1,",
    ])
    func `WebP is taken by who names it`(accept: String) {
        #expect(FormatNegotiation.acceptsWebP(accept))
    }

    @Test(arguments: [
        nil, "", "*/*", "image/*", "image/jpeg", "image/webp;q=0", "image/webp;q=0.000", "image/webp; q=0",
        "image/webp;q=",
        "image/webp;q=nan", "image/webp;q=2", "image/webp;q=0.12345", "image/webp2", "ximage/webp",
        "text/plain;image/webp",
        #"text/plain;x="image/webp""#, #"text/plain;x=", image/webp"#, "image / webp",
    ])
    func `WebP is not taken by who does not name it, or refuses it`(accept: String?) {
        #expect(!FormatNegotiation.acceptsWebP(accept))
    }

    @Test func `only auto looks at what is accepted`() {
        let auto = ImageQuery.Output.auto(quality: 50, lossless: false, interlaced: true)
        #expect(auto.options(takesWebP: true) == OutputOptions(format: .webp, quality: 50))
        #expect(auto.options(takesWebP: false) == OutputOptions(format: nil, quality: 50, interlaced: true))
        let png = ImageQuery.Output.explicit(OutputOptions(format: .png))
        #expect(png.options(takesWebP: true) == OutputOptions(format: .png))
        #expect(auto.isNegotiated && !png.isNegotiated)
    }
}
