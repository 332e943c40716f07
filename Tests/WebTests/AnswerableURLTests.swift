import DarkroomLoading
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import Testing

@testable import DarkroomHTTPServer
@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// Files whose headers state any size, as long as photographs of that size.
private enum SizedFile: String, CaseIterable, CustomTestStringConvertible {
    case jpeg = "photo.jpg"
    case webp = "photo.webp"
    case avif = "photo.avif"
    case png = "alpha.png"

    var testDescription: String { rawValue }

    func bytes(_ width: Int, _ height: Int) throws -> ByteBuffer {
        let folder = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../Fixtures/images/formats")
        var file = ByteBuffer(bytes: try Data(contentsOf: folder.appendingPathComponent(rawValue).standardized))
        let area = width * height
        switch self {
        case .jpeg:
            let frame = try #require(file.readableBytesView.firstIndex(of: [0xFF, 0xC0]))
            file.setInteger(UInt16(height), at: frame + 5)
            file.setInteger(UInt16(width), at: frame + 7)
            file.writeRepeatingByte(0, count: area / 3)
            file.writeBytes([0xFF, 0xD9])
        case .webp:
            file.setInteger(UInt16(width), at: 26, endianness: .little)
            file.setInteger(UInt16(height), at: 28, endianness: .little)
            file.writeString("JUNK")
            file.writeInteger(UInt32(area / 10 * 2), endianness: .little)
            file.writeRepeatingByte(0, count: area / 10 * 2)
        case .avif:
            let box = try #require(file.readableBytesView.firstIndex(of: Array("ispe".utf8)))
            file.setInteger(UInt32(width), at: box + 8)
            file.setInteger(UInt32(height), at: box + 12)
            file.writeInteger(UInt32(area / 8))
            file.writeString("free")
            file.writeRepeatingByte(0, count: area / 8 - 8)
        case .png:
            file.setInteger(UInt32(width), at: 16)
            file.setInteger(UInt32(height), at: 20)
            file.setInteger(Self.checksum(file.getBytes(at: 12, length: 17) ?? []), at: 29)
            file.writeInteger(UInt32(area))
            file.writeString("juNk")
            file.writeRepeatingByte(0, count: area + 4)
        }
        return file
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var remainder: UInt32 = ~0
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0xEDB8_8320 }
        }
        return ~remainder
    }
}

extension ByteBufferView {
    fileprivate func firstIndex(of bytes: [UInt8]) -> Int? {
        indices.first { self[$0...].starts(with: bytes) }
    }
}

private struct OneFile: OriginFetching {
    let body: ByteBuffer

    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        OriginResponse(
            url: request.url, status: .ok, headers: [.cacheControl: "max-age=60"], body: body,
            requestedAt: Date(), receivedAt: Date())
    }
}

/// The server answers the URLs that it names, whatever the size of the source. Images of many megapixels are only
/// planned, as a request does before anything is decoded.
@Suite(.timeLimit(.minutes(5)))
struct AnswerableURLTests {
    private struct Site {
        let pipeline: ImagePipeline
        let site: TestSite
        let endpoint: ImageEndpoint
        let source: DescribedSource
        let size: PixelSize

        init(_ file: SizedFile, _ size: PixelSize) async throws {
            self.size = size
            var configuration = WebConfiguration.test(token: nil)
            configuration.negotiation.formats = try #require(FormatList(parsing: "avif,webp"))
            let pipeline = ImagePipeline(
                configuration: PipelineConfiguration(), origin: OneFile(body: try file.bytes(size.width, size.height)),
                memory: MemoryStore(budgetBytes: 0), processing: InProcessImageProcessor())
            let observability = Observability.idle()
            let endpoints = Endpoints(configuration, pipeline, Prefetcher(pipeline), observability)
            (self.pipeline, endpoint) = (pipeline, endpoints.image)
            site = TestSite(endpoints, configuration: configuration)
            let information = try ImageQueryGrammar.info(limits: QueryLimits()).parse("url=http://a.org/a")
            source = try await pipeline.describe(endpoint.imageRequest(information, of: nil, Authorization()))
        }

        /// Plans the image of a query, for clients that accept different formats.
        func expectAnswer(to query: ImageQuery, _ name: String) async throws {
            for accept in ["*/*", "image/webp,*/*", "image/avif,image/webp,*/*"] {
                let head = HTTPRequest(
                    method: .get, scheme: "http", authority: "a", path: "/image", headerFields: [.accept: accept])
                let request = try endpoint.imageRequest(
                    query, of: RequestHead(head, from: nil), Authorization())
                do throws(PipelineError) { _ = try await pipeline.plan(request, of: source) } catch {
                    Issue.record("\(size) \(name) for \(accept): \(error)")
                }
            }
        }

        func expectAnswer(to query: String) async throws {
            try await expectAnswer(to: ImageQueryGrammar().parse(query), query)
        }
    }

    private static let megapixels = [0.1, 4, 12, 50]

    /// Sides of this many pixels in all, the ratio of width to height being one of several.
    private static func sizes(_ megapixels: Double, _ ratios: [Double]) -> [PixelSize] {
        ratios.map { ratio in
            let height = (megapixels * 1e6 / ratio).squareRoot()
            return PixelSize(width: Int(height * ratio), height: Int(height))
        }
    }

    @Test(arguments: SizedFile.allCases, megapixels)
    fileprivate func `Every URL of a srcset, and of its picture, is answered`(
        file: SizedFile, megapixels: Double
    ) async throws {
        for size in Self.sizes(megapixels, [1.5, 0.2]) {
            let site = try await Site(file, size)
            for more in ["", "&widths=100,3000,8000", "&ll=true", "&output=avif&widths=200,4000,8000", "&blur=3"] {
                let response = try await site.site.respond("/srcset?url=http://a.org/a\(more)")
                let text = try await response.text()
                guard response.status == .ok else {
                    #expect(!more.isEmpty, "\(size): \(text)")
                    continue
                }
                let document = try JSONDecoder().decode(SrcsetDocument.self, from: Data(text.utf8))
                let picture = (document.picture ?? "").replacing("&amp;", with: "&")
                let urls = document.candidates.map(\.url) + picture.matches(of: /\/image\?[^" ]+/).map { String($0.0) }
                #expect(!urls.isEmpty && (!more.isEmpty || picture.contains("image/avif")))
                for url in Set(urls) { try await site.expectAnswer(to: String(url.drop { $0 != "?" }.dropFirst())) }
            }
        }
    }

    @Test(arguments: SizedFile.allCases, megapixels)
    fileprivate func `A source is answered without parameters, and at the sizes of its IIIF document`(
        file: SizedFile, megapixels: Double
    ) async throws {
        for size in Self.sizes(megapixels, [1.5, 1]) {
            let site = try await Site(file, size)
            // A side beyond the limit is refused whatever the format, and no format that holds alpha is made of 50
            // megapixels in time.
            let isTooLarge =
                max(size.width, size.height) > PixelLimits().maxOutputSide || file == .png && megapixels >= 50
            for query in ["", "&output=auto", "&output=origin", "&passthrough=auto", "&w=8000"] where !isTooLarge {
                try await site.expectAnswer(to: "url=http://a.org/a\(query)")
            }
            for listed in IIIFPyramid(full: size, limits: PixelLimits()).sizes {
                let path = try IIIFImagePath(
                    region: "full", size: "\(listed.width),\(listed.height)", rotation: "0", file: "default.jpg")
                let image = try path.image(of: "http://a.org/a", full: size, limits: PixelLimits())
                try await site.expectAnswer(to: image.query, "iiif \(listed)")
            }
        }
    }

    /// Widths as pages have them, by code that does not know the source: the srcset of a client, and the playground.
    @Test(arguments: SizedFile.allCases, [0.1, 4, 12])
    fileprivate func `Photographs are answered at every width of a page in every format that pages name`(
        file: SizedFile, megapixels: Double
    ) async throws {
        for size in Self.sizes(megapixels, [1.5, 2 / 3]) {
            let site = try await Site(file, size)
            for output in ["webp", "jpg", "avif"] where output != "avif" || file != .png {
                for width in [320, 1280, 2560, 4200] {
                    try await site.expectAnswer(to: "url=http://a.org/a&w=\(width)&output=\(output)")
                }
            }
        }
    }
}
