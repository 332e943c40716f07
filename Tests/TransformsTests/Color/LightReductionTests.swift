import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The reduction in linear light that opaque photographs have by default.
struct LightReductionTests {
    private static let sizes = [(151, 97), (150, 96), (76, 97), (50, 31), (13, 7), (1, 1)]

    @Test(arguments: [[0], [1], [2], [7], [128], [254], [255], [200, 100, 50], [1, 2, 3]] as [[UInt8]])
    func `A flat color stays the same at every scale`(_ color: [UInt8]) throws {
        let image = try Drawing.flat(151, 97, color)
        for (width, height) in Self.sizes {
            let pixels = try Self.reduced(image, width, height)
            #expect(pixels.isFlat(color.map(Int.init)))
        }
    }

    @Test(arguments: [false, true])
    func `Pixels are the ones that libvips computes in linear light`(_ isGray: Bool) throws {
        let opaque = try Self.texture(isGray: isGray)
        // An image with alpha is reduced by libvips.
        let withAlpha = try opaque.addingAlpha()
        for (width, height) in Self.sizes {
            let pixels = try Self.reduced(opaque, width, height)
            let target = PixelSize(width: width, height: height)
            let expected = try Pixels(withAlpha.resampled(to: target, averaging: .light).band(0, count: opaque.bands))
            #expect(pixels.size == target)
            // libvips cuts off what overshoots between its two passes.
            let others = zip(pixels.samples, expected.samples).count { abs(Int($0) - Int($1)) > 3 }
            #expect(others * 200 <= pixels.samples.count, "\(width)x\(height): \(others)")
            #expect(pixels.meanDistance(to: expected) < 0.6, "\(width)x\(height)")
        }
    }

    @Test func `Any part is computed alone, and in tiles, as it is in the whole`() throws {
        let source = try Self.texture(isGray: false)
        let lazy = try source.resampled(to: PixelSize(width: 70, height: 45), averaging: .light)
        let whole = try Pixels(lazy.rendered())
        for (x, y, size) in [(0, 0, 20), (50, 25, 20), (3, 12, 30), (40, 5, 1)] {
            let part = try Pixels(lazy.extracting(x: x, y: y, size: PixelSize(width: size, height: size)).rendered())
            for (row, column) in [(0, 0), (size - 1, size - 1), (size / 2, size / 3)] {
                #expect(part[column, row] == whole[x + column, y + row])
            }
        }
        let turned = try lazy.applying("rot", ["angle": "d90"]).rendered()
        #expect(try Pixels(turned.applying("rot", ["angle": "d270"])).samples == whole.samples)
        let upright = try source.applying("rot", ["angle": "d90"]).applying("rot", ["angle": "d270"])
        #expect(
            try Pixels(upright.resampled(to: PixelSize(width: 70, height: 45), averaging: .light)).samples
                == whole.samples)
    }

    @Test func `Photographs are averaged in linear light by default, drawings as browsers do`() throws {
        // Not so bright as paper.
        let lines = try Drawing.image(200, 100) { x, _ in x.isMultiple(of: 2) ? [0, 0, 0] : [180, 180, 180] }
        // So wide that the decoder of JPEG does not shrink, and so narrow that the lines blur.
        func mean(_ source: ByteBuffer, _ resampling: Resampling) throws -> Int {
            let samples = try Pixels(produce(source, .box(90, 90, as: resampling)).body).samples
            return samples.reduce(0) { $0 + Int($1) } / samples.count
        }
        #expect(abs(try mean(lines.jpeg(quality: 100), .fast) - 131) <= 8)
        #expect(abs(try mean(lines.jpeg(quality: 100), .linear) - 131) <= 8)
        #expect(abs(try mean(lines.jpeg(quality: 100), .accurate) - 90) <= 8)
        #expect(abs(try mean(lines.png(), .fast) - 90) <= 8)
    }

    @Test func `A photograph that its decoder has shrunk is as bright as one averaged from all pixels`() throws {
        let photo = try Self.noise(400)
        func mean(_ source: ByteBuffer, _ side: Int, _ resampling: Resampling) throws -> Double {
            let samples = try Pixels(produce(source, .box(side, side, as: resampling)).body).samples
            return Double(samples.reduce(0) { $0 + Int($1) }) / Double(samples.count)
        }
        for side in [150, 70] {
            let expected = try mean(photo.png(), side, .linear)
            #expect(try mean(photo.png(), side, .accurate) < expected - 2)
            for resampling in [Resampling.fast, .linear] {
                let found = try mean(photo.jpeg(quality: 100), side, resampling)
                #expect(abs(found - expected) < 1, "\(side) \(resampling): \(found), not \(expected)")
            }
        }
    }

    @Test func `Each pixel gets the light of its difference from its neighbors, at most its own sample`() throws {
        for (dark, bright, detail) in [(100, 130, 0.65), (100, 130, 1.6), (0, 255, 1.15), (200, 255, 1.9)] {
            let squares = try Drawing.image(96, 64) { x, y in
                let sample = UInt8(x % 2 == y % 2 ? dark : bright)
                return [sample, sample, sample]
            }
            let columns = try #require(LightAxis(count: 96, origin: 0, length: 96, target: 12))
            let rows = try #require(LightAxis(count: 64, origin: 0, length: 64, target: 8))
            let pixels = try Pixels(squares.reducedInLight(columns: columns, rows: rows, detail: detail))
            let (low, high) = (Double(dark) / 255, Double(bright) / 255)
            let missing = detail * (high - low) * (high - low)
            let light = (min(SRGBCurve.light(low) + missing, low) + min(SRGBCurve.light(high) + missing, high)) / 2
            let expected = SRGBCurve.sample(light) * 255
            #expect(abs(pixels.luminance(x: 6, y: 4) - expected) < 1, "\(dark) \(bright)")
        }
    }

    @Test func `The weights of each output pixel have the same sum, and its boxes are in the image`() throws {
        for (count, origin, length, target) in [
            (500, 0.0, 500.75, 333), (500, 0.5, 499.2, 40), (9, 0, 9, 9), (3, 0, 3, 1), (8191, 0, 8191, 30),
            (1, 0, 1, 1),
        ] {
            let axis = try #require(LightAxis(count: count, origin: origin, length: length, target: target))
            #expect(axis.starts == axis.starts.sorted() && axis.starts.count == target)
            for pixel in 0..<target {
                let weights = axis.weights[(pixel * axis.taps)..<((pixel + 1) * axis.taps)]
                #expect(weights.reduce(0) { $0 + Int($1) } == LightAxis.unit)
                let boxes = (count + axis.shrink - 1) / axis.shrink
                #expect(weights.dropFirst(boxes - Int(axis.starts[pixel])).allSatisfy { $0 == 0 })
            }
        }
        #expect(LightAxis(count: 60_000, origin: 0, length: 60_000, target: 1) == nil)
    }

    /// Random details of all sizes, as photographs have.
    private static func noise(_ side: Int) throws -> VipsImage {
        try Drawing.image(side, side) { x, y in
            let sample = [1, 2, 4, 8, 16].reduce(110) { sum, size in
                var bits = UInt64((y / size) * side + x / size + size * 1_000_003) &* 0x9E37_79B9_7F4A_7C15
                bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
                return sum + (bits >> 40 & 1 == 0 ? -16 : 16)
            }
            return [UInt8(sample), UInt8(sample), UInt8(sample)]
        }
    }

    private static func reduced(_ image: VipsImage, _ width: Int, _ height: Int) throws -> Pixels {
        try Pixels(image.resampled(to: PixelSize(width: width, height: height), averaging: .lightIfFast))
    }

    /// Soft and hard edges of many directions.
    private static func texture(isGray: Bool) throws -> VipsImage {
        try Drawing.image(151, 97) { x, y in
            let sample = UInt8((x * x / 37 + y * y / 21) % 256)
            return isGray ? [sample] : [sample, UInt8((x * 3 + y) % 256), x / 20 % 2 == y / 20 % 2 ? 250 : 5]
        }
    }
}
