import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Sources that lack pixels, with `damaged=show`.
struct DamagePolicyTests {
    private let shown = {
        var options = OutputOptions(format: .png)
        options.damaged = .show
        return options
    }()

    private func half(_ name: String) throws -> ByteBuffer {
        let whole = try Fixture.image(name)
        return whole.getSlice(at: whole.readerIndex, length: whole.readableBytes * 3 / 5) ?? whole
    }

    @Test(arguments: ["formats/photo.jpg", "formats/progressive.jpg", "formats/alpha.png"])
    func `What can be decoded is shown, and is never proven`(_ name: String) throws {
        let damaged = try half(name)
        let whole = try Pixels(produce(Fixture.image(name)).body)
        for recipe in [Recipe(), .box(40)] {
            #expect(throws: ImageProcessingError.self) { try produce(damaged, recipe) }
            let result = try produce(damaged, recipe, output: shown)
            #expect(result.isDamaged && !result.isProven)
            if recipe == Recipe() {
                let pixels = try Pixels(result.body)
                #expect(pixels.size == whole.size)
                if name != "formats/progressive.jpg" {
                    #expect(pixels.distance(x: 3, y: 3, to: whole[3, 3]) <= 2)
                }
            }
        }
    }

    @Test(arguments: ["formats/photo.jpg", "formats/alpha.png", "formats/photo.webp", "color/palette.png"])
    func `A whole source is shown as ever`(_ name: String) throws {
        let source = try Fixture.image(name)
        let result = try produce(source, output: shown)
        #expect(!result.isDamaged && result.isProven)
        #expect(try result.body == produce(source).body)
    }

    @Test(arguments: [
        "hostile/magic-only.png", "hostile/header-only.jpg", "hostile/truncated.heic", "hostile/truncated.gif",
    ])
    func `A source without any pixels stays corrupt`(_ name: String) throws {
        let source = try Fixture.image(name)
        let error = #expect(throws: ImageProcessingError.self) { try produce(source, output: shown) }
        guard case .corrupt = error else { return #expect(error == nil) }
    }

    @Test func `The policy is part of the key, and a damaged source is never the result`() throws {
        #expect(shown.key != OutputOptions(format: .png).key)
        var passing = OutputOptions(format: .png, passthrough: .auto)
        passing.damaged = .show
        let result = try produce(half("formats/alpha.png"), output: passing)
        #expect(result.isDamaged && result.quality == nil)
    }
}
