import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomRequests
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import Testing
import Yams

@testable import DarkroomQuery
@testable import DarkroomWeb

/// A server that lacks the encoder of one format offers it nowhere.
struct MissingEncoderTests {
    private static let images = OutputFormat.allCases.filter { !$0.isText }

    private static func outputs(_ contract: Node) -> [String] {
        contract["components"]?["schemas"]?["OutputFormat"]?["enum"]?.sequence?.compactMap(\.string) ?? []
    }

    private static func configuration(_ format: OutputFormat) -> WebConfiguration {
        var configuration = WebConfiguration()
        configuration.limits.unwritable = [format]
        configuration.negotiation.formats = FormatList(FormatList.candidates) ?? FormatList()
        configuration.negotiation.unwritable = FormatList([format]) ?? FormatList()
        return configuration
    }

    @Test(arguments: images)
    func `A query for it is refused with the package to install`(_ format: OutputFormat) throws {
        let limits = Self.configuration(format).limits
        let grammar = ImageQueryGrammar(limits: limits)
        let error = #expect(throws: InvalidParameter.self) { try grammar.parse("url=a&output=\(format.rawValue)") }
        #expect(error?.parameter == "output")
        #expect(error?.detail.contains(MissingCodec.encoder(format).remedy) == true)
        #expect(try grammar.parse("url=a&output=blurhash").output.format == .blurHash)
        let output = try #require(grammar.summaries.first { $0.name == "output" })
        #expect(!output.values.contains(" \(format.rawValue),"))
    }

    @Test(arguments: FormatList.candidates)
    func `It is not negotiated, even where a query lists it`(_ format: OutputFormat) throws {
        let policy = Self.configuration(format).negotiation
        let accept = FormatList.candidates.map(\.mediaType).joined(separator: ",")
        for text in ["url=a", "url=a&formats=webp,avif,jxl", "url=a&formats=\(format.rawValue)"] {
            let query = try ImageQueryGrammar().parse(text)
            let formats = policy.preferences(of: query, accept: accept, connection: ConnectionHints(saveData: nil))
                .formats
            #expect(!formats.contains(format))
            #expect(formats.isEmpty == text.hasSuffix("formats=\(format.rawValue)"))
        }
    }

    @Test(arguments: [OutputFormat.avif, .jxl, .webp])
    func `A picture has no source of it`(_ format: OutputFormat) async throws {
        let configuration = Self.configuration(format)
        var endpoints = Endpoints.idle()
        endpoints.srcset = .describing(
            #"{"format":"jpeg","width":4000,"height":3000,"orientation":1,"pages":1}"#, configuration: configuration
        ) { _ in .stub() }
        let site = TestSite(endpoints, configuration: configuration)
        let text = try await site.respond("/srcset?url=https://example.com/a.jpg").text()
        #expect(!text.contains("image\\/\(format.rawValue)") && !text.contains("image/\(format.rawValue)"))
        let other = format == .avif ? "webp" : "avif"
        #expect(text.contains("image/\(other)") || text.contains("image\\/\(other)"))
    }

    @Test(arguments: images)
    func `The contract and the playground leave it out`(_ format: OutputFormat) async throws {
        var endpoints = Endpoints.idle()
        endpoints.contract = ContractEndpoint(without: [format])
        endpoints.playground = PlaygroundEndpoint(Self.configuration(format))
        let site = TestSite(endpoints, configuration: WebConfiguration())
        let contract = try #require(try Yams.compose(yaml: try await site.respond("/openapi.yaml").text()))
        let complete = try Yams.compose(yaml: String(decoding: PackageResources.openapi_yaml, as: UTF8.self))
        let values = Self.outputs(contract)
        #expect(values == Self.outputs(try #require(complete)).filter { $0 != format.rawValue })
        #expect(values.count > 10)
        #expect(try await site.respond("/").text().contains(#""unwritable":["\#(format.rawValue)"]"#))
        #expect(try await site.respond("/openapi.json").status == .ok)
        #expect(try await site.respond("/reference").status == .ok)
    }

    @Test(arguments: [("tif", OutputFormat.tiff), ("avif", .avif), ("webp", .webp)])
    func `An IIIF image in it is refused`(name: String, format: OutputFormat) throws {
        let error = #expect(throws: InvalidParameter.self) {
            try IIIFImagePath(
                region: "full", size: "max", rotation: "0", file: "default.\(name)",
                limits: Self.configuration(format).limits)
        }
        #expect(error?.parameter == "format")
        #expect(!IIIFFormat.all(without: [format]).contains { $0.name == name })
    }

    @Test func `A source without a decoder is 415, and names the package`() {
        let problem = Problem(PipelineError.missingDecoder(.heic))
        #expect(problem.kind.status == .unsupportedMediaType)
        #expect(
            problem.detail
                == "The source cannot be read: it is HEIC, for which this server has no decoder; its operator can "
                + "install the package libheif-plugin-libde265.")
    }
}
