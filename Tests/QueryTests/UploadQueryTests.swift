import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomPipeline
import DarkroomRequests
import Foundation
import Testing

@testable import DarkroomQuery

/// Queries for an image in the body.
struct UploadQueryTests {
    private let grammar = ImageQueryGrammar.upload()

    private func parse(_ query: String) throws -> ImageQuery {
        try grammar.parseUpload(try QueryString(parsing: query))
    }

    private func refusal(_ query: String) -> InvalidParameter? {
        do throws(InvalidParameter) {
            _ = try grammar.parseUpload(QueryString(parsing: query))
            return nil
        } catch {
            return error
        }
    }

    @Test func `An upload takes every parameter of an image but the url, with the same meaning`() throws {
        let names = ImageQueryGrammar().table.parameters.map(\.name)
        #expect(grammar.table.parameters.map(\.name) == names.filter { !["url", "compat"].contains($0) })
        let got = try parse("w=40&h=30&fit=cover&output=webp&q=70")
        let image = try ImageQueryGrammar().parse("url=https://example.com/a.jpg&w=40&h=30&fit=cover&output=webp&q=70")
        #expect(got.recipe == image.recipe && got.output == image.output)
    }

    @Test func `Nothing is stored unless the query asks for it, and never the bytes`() throws {
        #expect(try parse("").store == .none)
        #expect(try parse("store=variant").store == .variants)
        #expect(try parse("store=memory").store == .memory)
        #expect(
            refusal("store=original")?.detail
                == "Parameter 'store' must be one of all, memory, variant, none, got 'original'.")
    }

    @Test func `A url besides a body is refused, before anything else in the query`() {
        #expect(refusal("url=https://example.com/a.jpg&w=0")?.parameter == "url")
        #expect(refusal("w=0")?.parameter == "w")
        #expect(refusal("preset=a")?.parameter == "preset")
    }

    @Test func `An upload waits for its best format, because nothing is made for later`() throws {
        var preferences = ClientPreferences()
        preferences.formats = try #require(FormatList([.avif, .webp]))
        #expect(try parse("").interimOutput(for: preferences) == nil)
        #expect(try parse("wait=stored").interimOutput(for: preferences) == nil)
    }

    @Test func `The source of an upload is no URL that a query can give`() throws {
        let request = try parse("default=https://example.com/b.jpg").sourceRequest(SourceMap())
        #expect(request.source.scheme == .upload && request.data == nil)
        #expect(request.fallback?.canonical == "https://example.com/b.jpg")
        for url in [request.source.canonical, "upload:///\(String(repeating: "0", count: 64))", "UPLOAD:///a"] {
            #expect(throws: SourceURLError.unsupportedScheme("upload")) { try SourceURL(parsing: url) }
            #expect(throws: SourceURLError.unsupportedScheme("upload")) { try SourceMap().prefix(url.lowercased()) }
        }
    }

    @Test func `A key with hosts does not allow uploads`() throws {
        let request = try parse("w=4").sourceRequest(SourceMap())
        #expect(!request.source.staysWithin(hosts: ["example.com"]))
        #expect(!request.source.staysWithin(hosts: ["s3://*"]))
        #expect(request.source.staysWithin(hosts: ["*"]))
    }

    @Test func `An upload is signed only on request, and only at its own endpoint`() throws {
        let key = try SigningKey(id: "k1", secret: String(repeating: "s", count: 32))
        let authorizer = Authorizer(keys: [key], presets: Presets(), presetsOnly: false)
        let signer = URLSigner(keys: [key], authorizer: authorizer, limits: QueryLimits(), prefix: "")
        let signed = try signer.sign("w=40", isUpload: true)
        #expect(signed.hasPrefix("/image?w=40&s=k1."))
        let authorization = try authorizer.authorize(
            QueryString(parsing: String(signed.dropFirst(7))), path: "/image", presets: .accepted, isAdmin: false)
        #expect(authorization.key == key)
        #expect(throws: URLSigner.Refusal.self) { try signer.sign("w=40") }
        #expect(throws: URLSigner.Refusal.self) { try signer.sign("url=https://example.com/a.jpg", isUpload: true) }
        #expect(throws: URLSigner.Refusal.self) { try signer.sign("w=40", inPath: true, isUpload: true) }
        #expect(throws: URLSigner.Refusal.self) { try signer.sign("/info?fields=color", isUpload: true) }
    }
}
