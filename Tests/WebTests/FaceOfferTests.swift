import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomRequests
import HTTPTypes
import Hummingbird
import Testing
import Yams

@testable import DarkroomQuery
@testable import DarkroomWeb

/// A server that looks for no faces offers none, and a server that does says how many it has found.
struct FaceOfferTests {
    private static func contract(findsFaces: Bool) async throws -> Node {
        var endpoints = Endpoints.idle()
        endpoints.contract = ContractEndpoint(without: [], findsFaces: findsFaces)
        let site = TestSite(endpoints, configuration: WebConfiguration())
        return try #require(try Yams.compose(yaml: try await site.respond("/openapi.yaml").text()))
    }

    private static func references(_ contract: Node) -> String {
        let parameters = contract["paths"]?["/image"]?["get"]?["parameters"]?.sequence ?? []
        return parameters.compactMap { $0["$ref"]?.string }.joined(separator: " ")
    }

    @Test(arguments: [false, true])
    func `The contract has them where they are looked for`(findsFaces: Bool) async throws {
        let contract = try await Self.contract(findsFaces: findsFaces)
        let references = Self.references(contract)
        #expect(references.contains("/pixelate") && references.contains("/redact") == findsFaces)
        #expect(references.contains("/facezoom") == findsFaces)
        let components = contract["components"]
        let places = components?["schemas"]?["Place"]?["enum"]?.sequence?.compactMap(\.string) ?? []
        #expect(places.contains("attention") && places.contains("face") == findsFaces)
        for name in ["fields", "infoFields"] {
            let pattern = components?["parameters"]?[name]?["schema"]?["pattern"]?.string ?? ""
            #expect(pattern.contains("|all") && pattern.contains("faces") == findsFaces, "\(name)")
        }
    }

    @Test(arguments: [false, true])
    func `The playground has them where they are looked for`(findsFaces: Bool) async throws {
        var configuration = WebConfiguration()
        configuration.limits.findsFaces = findsFaces
        var endpoints = Endpoints.idle()
        endpoints.playground = PlaygroundEndpoint(configuration)
        let page = try await TestSite(endpoints, configuration: configuration).respond("/").text()
        #expect(page.contains(#""name":"redact""#) == findsFaces)
        #expect(page.contains(#""name":"facezoom""#) == findsFaces)
        #expect(page.contains("attention, face, faces") == findsFaces)
    }

    @Test func `A request for them is refused with the setting`() async throws {
        var configuration = WebConfiguration()
        configuration.limits.findsFaces = false
        let site = TestSite(configuration: configuration) { _ in .stub() }
        let problem = try await site.problem("/image?url=https://example.com/a.jpg&redact=face")
        #expect(problem.status == 400 && problem.parameter == "redact" && problem.detail.contains("setting faces"))
    }

    @Test(arguments: [0, 2])
    func `The number of faces is a field of responses, and of a 304`(count: Int) async throws {
        let site = TestSite { _ in
            var image = ImageResponse.stub()
            image.faces = count
            return image
        }
        let target = "/image?url=https://example.com/a.jpg&redact=face"
        #expect(try await site.respond(target).headers[.faces] == "\(count)")
        #expect(try await site.respond(target, fields: [.ifNoneMatch: "*"]).headers[.faces] == "\(count)")
        #expect(try await TestSite { _ in .stub() }.respond(target).headers[.faces] == nil)
    }
}
