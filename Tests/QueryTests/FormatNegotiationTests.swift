import DarkroomTransforms
import Testing

@testable import DarkroomQuery

struct FormatNegotiationTests {
    @Test(arguments: [
        "image/webp", "IMAGE/WebP", "image/avif,image/webp,*/*;q=0.8", " image/webp ", "image/webp;q=0.001",
        "image/webp; q=1.000", "image/webp;Q=0.5", "text/html,image/webp;v=1;q=0.2", "image/webp;q=0, image/webp",
        #"text/plain;x="a,b;c\"";q=0, image/webp"#, "image/webp\t;q=1,",
    ])
    func `WebP is accepted where it is named`(accept: String) {
        #expect(FormatNegotiation.acceptsWebP(accept))
    }

    @Test(arguments: [
        nil, "", "*/*", "image/*", "image/jpeg", "image/webp;q=0", "image/webp;q=0.000", "image/webp; q=0",
        "image/webp;q=",
        "image/webp;q=nan", "image/webp;q=2", "image/webp;q=0.12345", "image/webp2", "ximage/webp",
        "text/plain;image/webp",
        #"text/plain;x="image/webp""#, #"text/plain;x=", image/webp"#, "image / webp",
    ])
    func `WebP is not accepted where it is not named, or refused`(accept: String?) {
        #expect(!FormatNegotiation.acceptsWebP(accept))
    }

    @Test func `only a negotiated format depends on Accept`() throws {
        let grammar = ImageQueryGrammar()
        let auto = try grammar.parse("url=x&q=50&il")
        #expect(auto.output(acceptingWebP: true) == OutputOptions(format: .webp, quality: 50))
        #expect(auto.output(acceptingWebP: false) == OutputOptions(format: nil, quality: 50, interlaced: true))
        let png = try grammar.parse("url=x&output=png")
        #expect(png.output(acceptingWebP: true) == OutputOptions(format: .png))
        #expect(auto.isNegotiated && !png.isNegotiated)
    }
}
