import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

struct EncodingSpeedTests {
    @Test func `The estimate of an encoder's speed follows what was observed, within bounds`() {
        let speed = EncodingSpeed()
        let output = OutputOptions(format: .avif)
        let size = PixelSize(width: 1_000, height: 1_000)
        let before = speed.duration(of: size, as: output)
        func observe(_ duration: Duration, side: Int = 1_000, quality: ResultQuality? = nil) {
            speed.record(
                ProcessedImage(
                    body: ByteBuffer(), format: .avif, size: PixelSize(width: side, height: side), frames: 1,
                    sourceFormat: .jpeg, quality: quality, stages: ProcessingStages(encode: duration)), as: output)
        }
        observe(.seconds(1), side: 10)
        observe(.seconds(1), quality: .ofSource())
        #expect(speed.duration(of: size, as: output) == before)
        for _ in 0..<200 { observe(before * 3) }
        #expect(abs(speed.duration(of: size, as: output) / before - 3) < 0.1)
        for _ in 0..<500 { observe(.seconds(3_600)) }
        #expect(speed.duration(of: size, as: output) <= before * 20.1)
        #expect(speed.duration(of: size, as: OutputOptions(format: .webp)) < before)
        #expect(speed.duration(of: size, as: OutputOptions()) == .zero)
    }

    @Test func `The time of another format in a comparison does not count`() {
        let speed = EncodingSpeed()
        let (output, size) = (OutputOptions(format: .avif, alternative: .webp), PixelSize(width: 1_000, height: 1_000))
        let before = speed.duration(of: size, as: output)
        speed.record(
            ProcessedImage(
                body: ByteBuffer(), format: .avif, size: size, frames: 1, sourceFormat: .jpeg,
                stages: ProcessingStages(encode: before * 3, compare: before * 2)), as: output)
        #expect(abs(speed.duration(of: size, as: output) / before - 1) < 0.001)
    }

    @Test func `The estimate follows the encoder's effort and the encodes that the options take`() {
        let size = PixelSize(width: 1_000, height: 1_000)
        func duration(_ output: OutputOptions, avif: Int = 2) -> Duration {
            EncodingSpeed(EncoderEfforts(avif: avif)).duration(of: size, as: output)
        }
        let once = duration(OutputOptions(format: .avif))
        #expect(duration(OutputOptions(format: .avif), avif: 0) == once / 4)
        #expect(duration(OutputOptions(format: .avif), avif: 9) == once * 90)
        #expect(abs(duration(OutputOptions(format: .avif, target: .low)) / once - 1.1) < 0.001)
        #expect(duration(OutputOptions(format: .avif, maxBytes: 900)) == once * 3)
        #expect(duration(OutputOptions(format: .webp, quality: 3)) == duration(OutputOptions(format: .webp)))
        let (plain, palette) = (OutputOptions(format: .png), OutputOptions(format: .png, palette: true))
        #expect(duration(palette) > duration(plain) * 5)
    }

    @Test func `What was observed at one effort counts for another in proportion`() {
        let speed = EncodingSpeed()
        let (output, size) = (OutputOptions(format: .avif), PixelSize(width: 4_000, height: 3_000))
        let (usual, least) = (speed.duration(of: size, as: output), speed.duration(of: size, as: output, effort: 0))
        #expect(least < usual)
        func observe(_ duration: Duration) {
            speed.record(
                ProcessedImage(
                    body: ByteBuffer(), format: .avif, size: size, frames: 1, sourceFormat: .jpeg, effort: 0,
                    stages: ProcessingStages(encode: duration)), as: output)
        }
        observe(least)
        #expect(abs(speed.duration(of: size, as: output) / usual - 1) < 0.001)
        for _ in 0..<200 { observe(least / 2) }
        #expect(abs(speed.duration(of: size, as: output) / usual - 0.5) < 0.01)
        #expect(abs(speed.duration(of: size, as: output, effort: 0) / least - 0.5) < 0.01)
    }

    @Test func `Searches for a quality and for a size are observed apart`() {
        let speed = EncodingSpeed()
        let size = PixelSize(width: 1_000, height: 1_000)
        let (auto, limited) = (
            OutputOptions(format: .avif, target: .high), OutputOptions(format: .avif, maxBytes: 9_000)
        )
        let (autoBefore, limitedBefore) = (speed.duration(of: size, as: auto), speed.duration(of: size, as: limited))
        let image = ProcessedImage(
            body: ByteBuffer(), format: .avif, size: size, frames: 1, sourceFormat: .jpeg,
            stages: ProcessingStages(encode: limitedBefore * 3))
        for _ in 0..<100 { speed.record(image, as: limited) }
        #expect(speed.duration(of: size, as: auto) == autoBefore)
        #expect(speed.duration(of: size, as: OutputOptions(format: .avif, maxBytes: 77)) > limitedBefore * 2)
    }
}
