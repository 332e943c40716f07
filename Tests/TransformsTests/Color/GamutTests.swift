import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct GamutTests {
    private static let formats: [OutputFormat] = [.jpeg, .png, .webp, .avif, .jxl, .tiff]

    @Test(arguments: formats)
    func `A photograph in Display P3 stays Display P3 and shows the same colors`(_ format: OutputFormat) throws {
        guard format.isAvailable else { return }
        let source = try Fixture.image("color/display-p3.png")
        let result = try produce(source, Self.recipe(.source), output: OutputOptions(format: format, quality: nil)).body
        #expect(try Self.isP3(result))
        let (shown, original) = (try Self.shown(result), try Pixels(source))
        for (x, y) in [(25, 25), (75, 75), (125, 125), (175, 175)] {
            #expect(shown.distance(x: x, y: y, to: original[x, y]) <= 12, "\(x) \(y)")
        }
    }

    @Test(arguments: formats)
    func `An sRGB source becomes Display P3 only if that is asked for`(_ format: OutputFormat) throws {
        guard format.isAvailable else { return }
        let source = try Fixture.image("color/squares.png")
        for (gamut, isP3) in [(Gamut.p3, true), (.source, false), (.sRGB, false)] {
            let result = try produce(source, Self.recipe(gamut), output: OutputOptions(format: format)).body
            #expect(try Self.isP3(result) == isP3)
            #expect(try Self.shown(result).distance(x: 25, y: 25, to: [0xE6, 0x19, 0x4B]) <= 14)
        }
    }

    @Test func `Samples of a Display P3 source are not converted`() throws {
        let source = try Fixture.image("color/display-p3.png")
        let result = try produce(source, Self.recipe(.source)).body
        let samples = try [source, result].map { file in
            try VipsLoader.png.withImage(of: file) { lazy throws(VipsError) in try lazy.rendered() }.samples()
        }
        #expect(samples[0] == samples[1])
    }

    @Test func `Transparent and lossless AVIF state Display P3 too`() throws {
        guard OutputFormat.avif.isAvailable, AVIFEncoder.hasLosslessMode else { return }
        let source = try Fixture.image("color/display-p3.png")
        let exact = try produce(source, Self.recipe(.source), output: OutputOptions(format: .avif, lossless: true)).body
        #expect(try Self.isP3(exact))
        #expect(try Self.shown(exact).meanDistance(to: Pixels(source)) < 1)
        var rotated = Self.recipe(.source)
        rotated.rotationDegrees = 10
        #expect(try Self.isP3(produce(source, rotated, output: OutputOptions(format: .avif)).body))
    }

    @Test func `Steps that draw, and formats without profiles, make sRGB`() throws {
        var tinted = Self.recipe(.p3)
        tinted.tint = Tint(Color(red: 200, green: 30, blue: 30))
        var onRed = Self.recipe(.p3)
        onRed.background = Color(red: 200, green: 30, blue: 30)
        for var recipe in [tinted, onRed] {
            let key = TransformChain(recipe).key
            recipe.gamut = .sRGB
            #expect(TransformChain(recipe).key == key)
        }
        var onWhite = Self.recipe(.p3)
        onWhite.background = .white
        #expect(TransformChain(onWhite).gamut == .p3)
        let source = try Fixture.image("color/display-p3.png")
        let gif = try produce(source, Self.recipe(.p3), output: OutputOptions(format: .gif)).body
        #expect(try Pixels(gif).distance(x: 25, y: 25, to: [0xE6, 0x19, 0x4B]) <= 12)
        let colors = [Gamut.p3, .sRGB].map { gamut in
            try? produce(source, Self.recipe(gamut), output: OutputOptions(format: .color)).body
        }
        #expect(colors[0] != nil && colors[0] == colors[1])
    }

    @Test func `Gray stays gray`() throws {
        let gray = try VipsSaver.png.encode(Drawing.flat(20, 20, [90]))
        let result = try produce(gray, Self.recipe(.p3)).body
        #expect(try !Self.isP3(result) && Pixels(result).isFlat([90, 90, 90]))
    }

    @Test func `The profile is small, and known as Display P3`() throws {
        #expect(ICCProfile.displayP3.readableBytes == 492)
        let profile = ICCProfile(bytes: .init(bytes: ICCProfile.displayP3.readableBytesView))
        #expect(profile.isDisplayP3 && !profile.isSRGB && profile.description == "Display P3")
        let source = try Fixture.image("color/display-p3.jpg")
        let sizes = try [Gamut.sRGB, .source].map { gamut in
            try produce(source, Self.recipe(gamut), output: OutputOptions(format: .jpeg)).body.readableBytes
        }
        #expect(abs(sizes[1] - sizes[0]) < 700)
    }

    private static func recipe(_ gamut: Gamut) -> Recipe {
        var recipe = Recipe()
        recipe.gamut = gamut
        return recipe
    }

    /// The pixels of a file in sRGB, also where code points state its color space.
    private static func shown(_ file: ByteBuffer) throws -> Pixels { try Pixels(produce(file).body) }

    /// Whether a file says that its samples are Display P3.
    private static func isP3(_ file: ByteBuffer) throws -> Bool {
        try SourceHeader(of: file).withFields(of: file) { image in
            image.statedSpace?.isDisplayP3 ?? image.blob("icc-profile-data").map { ICCProfile(bytes: $0).isDisplayP3 }
                ?? false
        }
    }
}
