import DarkroomHTTPCaching
import DarkroomRequests
import DarkroomTransforms
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Which requests the failure to decode a part of a source fails.
@Suite(.timeLimit(.minutes(5)))
struct UndecodablePartTests {
    /// A PNG that ends inside its pixels.
    private static func truncated(side: Int = 64) throws -> ByteBuffer {
        let png = try Pictures.noise(width: side, height: side)
        return png.getSlice(at: png.readerIndex, length: png.readableBytes * 2 / 3) ?? png
    }

    /// An icon of PNGs.
    private static func icon(_ images: [(side: Int, png: ByteBuffer)]) -> ByteBuffer {
        var icon = ByteBuffer()
        for number in [0, 1, images.count] { icon.writeInteger(UInt16(number), endianness: .little) }
        var start = 6 + 16 * images.count
        for (side, png) in images {
            icon.writeBytes([UInt8(side), UInt8(side), 0, 0])
            for number in [1, 32] { icon.writeInteger(UInt16(number), endianness: .little) }
            for number in [png.readableBytes, start] { icon.writeInteger(UInt32(number), endianness: .little) }
            start += png.readableBytes
        }
        for image in images { icon.writeImmutableBuffer(image.png) }
        return icon
    }

    private func bench(_ bytes: ByteBuffer, maxAge: Int = 86_400) throws -> Bench {
        let bench = try Bench()
        bench.origin.answer(.picture(bytes, .control("max-age=\(maxAge)", etag: "t")))
        return bench
    }

    private func failure(
        _ bench: Bench, _ output: OutputOptions, page: Int = PageSelection.primary, width: Int = 20,
        store: TierSelection = .all
    ) async throws -> PipelineError? {
        var request = try bench.request(width: width, store: store)
        request.output = output
        request.pages.first = page
        do throws(PipelineError) {
            _ = try await bench.pipeline.image(for: request)
            return nil
        } catch {
            return error
        }
    }

    private let information = OutputOptions(format: .json)
    private let colors = OutputOptions(format: .json, details: .color)
    private let jpeg = OutputOptions(format: .jpeg)
    private let webp = OutputOptions(format: .webp)

    @Test func `Pixels that do not decode fail requests for pixels, and the header is still read`() async throws {
        let bench = try bench(Self.truncated())
        #expect(try await failure(bench, information) == nil)
        #expect(try await failure(bench, jpeg) == .corrupt)
        for _ in 0..<2 { #expect(try await failure(bench, information) == nil) }
        // Neither other outputs nor other widths decode the pixels again.
        #expect(try await failure(bench, colors)?.cause == .corrupt)
        #expect(try await failure(bench, jpeg, width: 10)?.cause == .corrupt)
        #expect(bench.processing.runs.value == 4)
    }

    @Test func `A header that cannot be read fails all requests`() async throws {
        let png = try Pictures.red.get()
        let bench = try bench(#require(png.getSlice(at: png.readerIndex, length: 20)))
        #expect(try await failure(bench, information) == .corrupt)
        for output in [information, colors, jpeg, webp] {
            #expect(try await failure(bench, output)?.cause == .corrupt)
        }
        #expect(bench.processing.runs.value == 1)
    }

    @Test func `Bytes that are no image are read once for images and once for their header`() async throws {
        let bench = try bench(ByteBuffer(string: "hello"))
        for output in [jpeg, webp, information, colors, information] {
            #expect(try await failure(bench, output)?.cause == .unsupported)
        }
        #expect(try await failure(bench, jpeg, page: 2)?.cause == .unsupported)
        #expect(bench.processing.runs.value == 2)
    }

    @Test func `Requests for the header, fresh or stale, do not make damaged pixels decode again`() async throws {
        let bench = try bench(Self.truncated(), maxAge: 10)
        #expect(try await failure(bench, jpeg) == .corrupt)
        for _ in 0..<3 {
            bench.wall.advance(seconds: 11)
            #expect(try await failure(bench, information) == nil)
            #expect(try await failure(bench, jpeg)?.cause == .corrupt)
        }
        let jobs = bench.processing.jobs
        #expect(jobs.filter { $0.output.format == .jpeg }.count == 1)
        #expect(jobs.filter { $0.output.format == .json }.count == 3)
    }

    @Test func `A request for pixels that joins a request for the header does not decode damaged pixels again`()
        async throws
    {
        let bench = try bench(Self.truncated(), maxAge: 10)
        #expect(try await failure(bench, jpeg) == .corrupt)
        bench.wall.advance(seconds: 11)
        let release = bench.processing.holdNext()
        async let header = failure(bench, information)
        await bench.processing.runs.reaches(2)
        #expect(try await failure(bench, jpeg)?.cause == .corrupt)
        release()
        #expect(try await header == nil)
        #expect(bench.processing.runs.value == 2)
    }

    @Test func `A still image neither suffers from damaged later frames nor makes them decode again`() async throws {
        let bench = try bench(Pictures.red.get())
        bench.processing.damage(page: PageSelection.primary)
        #expect(try await failure(bench, webp, store: .none) == .corrupt)
        bench.processing.damage(page: .max)
        for _ in 0..<2 { #expect(try await failure(bench, jpeg, store: .none) == nil) }
        #expect(try await failure(bench, webp, store: .none)?.cause == .corrupt)
        #expect(bench.processing.jobs.filter { $0.output.format == .webp }.count == 1)
    }

    @Test func `A damaged first frame fails the animation too`() async throws {
        let bench = try bench(Self.truncated())
        #expect(try await failure(bench, jpeg) == .corrupt)
        #expect(try await failure(bench, webp)?.cause == .corrupt)
        #expect(bench.processing.runs.value == 1)
    }

    @Test func `Each damaged page is tried once, in whatever order they are requested`() async throws {
        let bench = try bench(Pictures.red.get())
        for page in 2...4 {
            bench.processing.damage(page: page)
            #expect(try await failure(bench, jpeg, page: page) == .corrupt)
        }
        bench.processing.damage(page: .max)
        for page in [2, 4, 3, 2] { #expect(try await failure(bench, jpeg, page: page)?.cause == .corrupt) }
        #expect(bench.processing.runs.value == 3)
        #expect(try await failure(bench, jpeg) == nil)
    }

    @Test func `A damaged image of an icon fails the sizes that are made from it`() async throws {
        let bench = try bench(
            Self.icon([(16, try Pictures.png(width: 16, height: 16)), (64, try Self.truncated())]))
        let png = OutputOptions(format: .png)
        #expect(try await failure(bench, png, width: 64) == .corrupt)
        #expect(try await failure(bench, png, width: 64)?.cause == .corrupt)
        #expect(bench.processing.runs.value == 1)
        #expect(try await failure(bench, png, width: 16) == nil)
    }
}
