import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// `depth=source`.
struct SampleDepthTests {
    private static let deepFormats: [OutputFormat] = [.png, .avif, .jxl]

    @Test(arguments: deepFormats)
    func `A ramp of 10 bits keeps more than 256 levels`(_ format: OutputFormat) throws {
        guard format.isAvailable else { return }
        let source = try Self.png(Self.ramp())
        let values = try Self.samples(of: produce(source, Self.recipe(), output: OutputOptions(format: format)).body)
        #expect(values.count == 1024 * 32 * 3)
        let row = stride(from: 0, to: 1024 * 3, by: 3).map { values[1024 * 3 * 16 + $0] }
        #expect(Set(row).count > 600)
        for (shown, drawn) in zip(row, Self.levels) { #expect(abs(Int(shown) - Int(drawn)) < 65_535 / 128) }
        if format == .png { #expect(row == Self.levels) }
    }

    @Test(arguments: [Resampling.fast, .accurate, .linear])
    func `Scaling, crops and turns keep levels`(_ resampling: Resampling) throws {
        var recipe = Self.recipe(resampling)
        recipe.box = Box(width: 900, height: 16)
        recipe.fit = .cover
        recipe.rotationDegrees = 90
        recipe.flip = true
        recipe.crop = Crop(x: 2, y: 2, width: 1020, height: 30)
        let source = try Self.png(Self.ramp())
        #expect(try Set(Self.samples(of: produce(source, recipe).body)).count > 256)
        recipe.depth = .eight
        #expect(try Self.decoded(produce(source, recipe).body).isByte)
    }

    @Test func `Results have 8 bits by default, and what has 8 bits keeps them`() throws {
        let deep = try Self.png(Self.ramp())
        #expect(try Self.decoded(produce(deep).body).isByte)
        let plain = try VipsSaver.png.encode(Drawing.quarters(20, 20))
        #expect(try Self.decoded(produce(plain, Self.recipe()).body).isByte)
        for format in [OutputFormat.webp, .jpeg, .gif] {
            let result = try produce(deep, Self.recipe(), output: OutputOptions(format: format)).body
            #expect(try Self.decoded(result).isByte)
        }
        #expect(try Self.decoded(produce(deep, Self.recipe(), output: Self.palette).body).isByte)
    }

    @Test func `Steps that draw or compute with 8 bits make 8 bits`() throws {
        let changes: [(inout Recipe) -> Void] = [
            { $0.blur = Blur(sigma: 2) }, { $0.tint = Tint(.white) }, { $0.padding = Padding(2) },
            { $0.background = .white },
            { $0.rotationDegrees = 10 },
            {
                $0.position = .attention
                $0.fit = .cover
                $0.box = Box(width: 9, height: 9)
            },
        ]
        for change in changes {
            var recipe = Self.recipe()
            change(&recipe)
            let key = TransformChain(recipe).key
            recipe.depth = .eight
            #expect(TransformChain(recipe).key == key)
        }
        #expect(TransformChain(Self.recipe()).key != TransformChain(Recipe()).key)
    }

    @Test func `Gray stays one channel, and alpha keeps its bits`() throws {
        let gray = try Self.png(Self.ramp().band(0).applying("copy", ["interpretation": "grey16"]))
        let result = try Self.decoded(produce(gray, Self.recipe()).body)
        #expect(result.isShort && result.bands == 1)
        let seeThrough = try VipsImage.joiningBands([Self.ramp(), Self.ramp().band(0)])
            .applying("copy", ["interpretation": "rgb16"])
        let file = try Self.png(seeThrough)
        let kept = try Self.decoded(produce(file, Self.recipe()).body)
        #expect(kept.isShort && kept.bands == 4)
        #expect(try Set(Self.samples(of: Self.png(kept.band(3)))).count == 1024)
    }

    @Test(arguments: [("color/icc-swap.png", [200, 100, 50, 90]), ("color/grey-linear-profile.png", [100, 90])])
    func `Alpha of 16 bits stays beside a profile`(name: String, color: [UInt8]) throws {
        let stored = try VipsLoader.png.withImage(of: Fixture.image(name)) { image throws(VipsError) in
            image.blob("icc-profile-data")
        }
        let profile = try #require(stored)
        let image = try Drawing.flat(4, 4, color).applying("linear", ["a": .doubles([257]), "b": 0])
            .applying("cast", ["format": "ushort"])
            .applying("copy", ["interpretation": color.count == 2 ? "grey16" : "rgb16"])
        let file = try #require(PNGContainer.adding(profile: profile, to: Self.png(image)))
        #expect(try SourceHeader(of: file).hasAlpha)
        for output in [OutputOptions(format: .png), OutputOptions(format: .webp, lossless: true)] {
            #expect(try Pixels(produce(file, output: output).body)[1, 1].last == 90)
        }
    }

    @Test(arguments: 2...4)
    func `Of gray with further channels, the first of them is alpha`(bands: Int) throws {
        let (gray, alpha) = (try Self.ramp().band(0), try Self.ramp().band(0).applying("invert"))
        let channels = [gray, alpha, gray, gray].prefix(bands)
        let image = try VipsImage.joiningBands(Array(channels)).applying("copy", ["interpretation": "grey16"])
        let shown = try image.convertedToSRGB(isDeep: true)
        #expect(shown.isShort && shown.bands == 4)
        #expect(try shown.withSamples { Array($0) } == Self.joined([gray, gray, gray, alpha]))
    }

    @Test func `AVIF with alpha or without loss has 8 bits`() throws {
        guard OutputFormat.avif.isAvailable, AVIFEncoder.hasLosslessMode else { return }
        let opaque = try Self.png(Self.ramp())
        let exact = OutputOptions(format: .avif, lossless: true)
        #expect(try Self.decoded(produce(opaque, Self.recipe(), output: exact).body).isByte)
        let alpha = try Self.png(Self.ramp().addingAlpha())
        #expect(try Self.decoded(produce(alpha, Self.recipe(), output: OutputOptions(format: .avif)).body).isByte)
    }

    @Test func `The white of a 10-bit AVIF is the white of 16 bits`() throws {
        guard OutputFormat.avif.isAvailable else { return }
        let white = try Self.png(
            VipsImage.table([UInt16](repeating: 65_535, count: 64), bands: 3)
                .applying("replicate", ["across": 1, "down": 64]).applying("copy", ["interpretation": "rgb16"]))
        let avif = try produce(white, Self.recipe(), output: OutputOptions(format: .avif)).body
        let (stored, shown) = (try Self.samples(of: avif), try Self.samples(of: produce(avif, Self.recipe()).body))
        // libvips shifts samples of 10 bits.
        #expect(stored.allSatisfy { $0 >= 1020 << 6 && $0 <= 1023 << 6 })
        #expect(shown.elementsEqual(stored) { Int($0) == (Int($1) * 65_535 + 32_736) / 65_472 })
    }

    @Test func `A profile is applied with 16 bits`() throws {
        let wide = try Self.ramp().setting(blobs: ["icc-profile-data": ICCProfile.displayP3])
        for gamut in [Gamut.sRGB, .source] {
            var recipe = Self.recipe()
            recipe.gamut = gamut
            let deep = try Self.decoded(produce(Self.png(wide), recipe).body)
            #expect(deep.isShort)
            #expect(try Set(Self.samples(of: Self.png(deep.band(0)))).count > 900)
        }
    }

    @Test func `The plan states the depth, and a deep AVIF is not compared with WebP`() throws {
        let source = try Self.png(Self.ramp())
        func plan(_ output: OutputOptions, _ recipe: Recipe = Self.recipe()) throws -> ImagePlan {
            try PreparedJob(ImageJob(source: source, chain: TransformChain(recipe), output: output)).plan()
        }
        #expect(try plan(OutputOptions(format: .png)).depth == 16 && plan(OutputOptions(format: .webp)).depth == 8)
        #expect(try plan(OutputOptions(format: .png), Recipe()).depth == 8)
        #expect(try plan(OutputOptions(format: .blurHash)).depth == nil)
        guard OutputFormat.avif.isAvailable else { return }
        let negotiated = OutputOptions(format: .avif, alternative: .webp)
        let (deep, plain) = (try plan(negotiated), try plan(negotiated, Recipe()))
        #expect(deep.depth == 10 && deep.webPChoiceWork == nil)
        #expect(plain.depth == 8 && plain.webPChoiceWork != nil)
        let memory = try [Self.recipe(), Recipe()].map {
            try plan(OutputOptions(format: .avif), $0).estimatedMemoryBytes
        }
        #expect(memory[0] > memory[1])
    }

    private static let palette = OutputOptions(format: .png, palette: true)
    private static let levels = (0..<1024).map { UInt16($0 * 65_535 / 1023) }

    private static func ramp() throws -> VipsImage {
        try VipsImage.table(levels, bands: 3).applying("replicate", ["across": 1, "down": 32])
            .applying("copy", ["interpretation": "rgb16"])
    }

    private static func recipe(_ resampling: Resampling = .fast) -> Recipe {
        var recipe = Recipe(resampling: resampling)
        recipe.depth = .source
        return recipe
    }

    private static func joined(_ bands: [VipsImage]) throws -> [UInt8] {
        try VipsImage.joiningBands(bands).withSamples { Array($0) }
    }

    private static func png(_ image: VipsImage) throws -> ByteBuffer { try VipsSaver.png.encode(image) }

    private static func decoded(_ file: ByteBuffer) throws -> VipsImage {
        let header = try SourceHeader(of: file)
        return try Decoder(source: file, header: header) { false }.decode(DecodeParameters()).image
    }

    private static func samples(of file: ByteBuffer) throws -> [UInt16] {
        try decoded(file).withSamples { Array($0.bindMemory(to: UInt16.self)) }
    }
}
