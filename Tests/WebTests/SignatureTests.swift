import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomRequests
import DarkroomTestRandom
import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// Signed requests, held against `Fixtures/signatures.json`, which a program in another language wrote.
struct SignatureTests {
    private let vectors = SignatureVectors.all

    private func site(picture: @escaping @Sendable (ImageRequest) -> Void = { _ in }) throws -> TestSite {
        TestSite(configuration: try vectors.configuration()) { request throws(PipelineError) in
            picture(request)
            return .stub()
        }
    }

    @Test(arguments: SignatureVectors.all.valid + SignatureVectors.all.signed)
    func `What is signed, and how, is the same in every language`(row: SignatureVectors.Valid) throws {
        let secret = try #require(vectors.keys[row.key])
        let parameters = QueryString(pairs: row.parameters.map { .init(name: $0, value: $1) })
        let request = SignedRequest(path: row.path, parameters: parameters)
        #expect(request.text == row.text)
        let signature = try SigningKey(id: row.key, secret: secret).sign(request)
        #expect(signature.text == row.signature)
        #expect("\(row.path)?\(request.query)&s=\(signature.text)" == row.url)
        if let path = row.signedPath { #expect(SignedPath.path(signature, of: request) == path) }
    }

    @Test(arguments: SignatureVectors.all.valid)
    func `A signed request is answered, in the query and in the path`(row: SignatureVectors.Valid) async throws {
        for target in [row.url, row.signedPath].compactMap(\.self) {
            let response = try await site().respond(target)
            #expect(response.status == .ok, "\(target)")
            #expect(try await site().respond(target, method: .head).status == .ok)
            #expect(response.headers[.cacheControl]?.hasPrefix("public") == true)
        }
    }

    @Test(arguments: SignatureVectors.all.same)
    func `Another spelling of the same request has the same signature`(row: SignatureVectors.Alias) async throws {
        #expect(try await site().respond(row.url).status == .ok)
    }

    @Test(arguments: SignatureVectors.all.invalid)
    func `Whatever else it says is refused`(row: SignatureVectors.Invalid) async throws {
        let problem = try await site { _ in Issue.record("It was asked for.") }.problem(row.url)
        #expect(problem.type == "/problems/\(row.problem)")
    }

    @Test func `Which part of a signature is wrong is not told`() async throws {
        let site = try site()
        let wrong = vectors.invalid.filter { $0.problem == "signature-wrong" }
        var told: Set<Problem.Document> = []
        for row in wrong { told.insert(try await site.problem(row.url)) }
        #expect(wrong.count > 15)
        #expect(told.count == 1)
    }

    @Test func `Every change of a signed request is refused, unless it is decoded to the same`() async throws {
        let site = try site()
        var numbers = SeededRandom(seed: 7)
        for row in vectors.valid where row.path == "/image" {
            let original = try pairs(row.url)
            for _ in 0..<60 {
                let changed = change(row.url, &numbers)
                let isSame = (try? pairs(changed)).map { $0 == original } ?? false
                let response = try await site.respond(changed)
                #expect((response.status == .ok) == isSame, "\(row.url) became \(changed)")
            }
        }
    }

    /// What a target is decoded to, in one order; a bare name is one without a value.
    private func pairs(_ target: String) throws -> [String] {
        let halves = target.split(separator: "?", maxSplits: 1).map(String.init)
        let query = try QueryString(parsing: halves.count == 2 ? halves[1] : "")
        return [halves[0]] + query.pairs.map { "\($0.name)=\($0.value ?? "")" }.sorted()
    }

    /// A byte, a parameter or the order changed.
    private func change(_ target: String, _ numbers: inout SeededRandom) -> String {
        let halves = target.split(separator: "?", maxSplits: 1).map(String.init)
        var members = halves[1].split(separator: "&").map(String.init)
        let at = Int.random(in: 0..<members.count, using: &numbers)
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0: members.shuffle(using: &numbers)
        case 1: members.remove(at: at)
        case 2: members.insert(members[at], at: 0)
        case 3: members.append(["h=9", "s=k1.A", "exp=4102444800", "", "&", "q"].randomElement(using: &numbers) ?? "")
        default:
            var bytes = Array(members[at].utf8)
            let place = Int.random(in: 0..<bytes.count, using: &numbers)
            bytes[place] = Array("abzAZ09%&=.-_~+/".utf8).randomElement(using: &numbers) ?? 0
            members[at] = String(decoding: bytes, as: UTF8.self)
        }
        return halves[0] + "?" + members.joined(separator: "&")
    }

    @Test(arguments: ["?", "?x=1", "/", "//", "%2F", "/x"])
    func `A request in the path has one spelling`(suffix: String) async throws {
        let row = try #require(vectors.valid.first { $0.signedPath != nil })
        let path = try #require(row.signedPath)
        for target in [path + suffix, "/" + path, path.replacing("/", with: "//")] {
            let status = try await site { _ in Issue.record("It was asked for.") }.respond(target).status
            #expect([.badRequest, .forbidden, .notFound].contains(status), "\(target)")
        }
    }

    @Test func `The query in a path has one order and one encoding`() async throws {
        let row = try #require(vectors.valid.first { $0.signedPath != nil && $0.parameters.count > 1 })
        let query = String(try #require(row.text.split(separator: "\n").last))
        let members = query.split(separator: "&")
        let others: [String] = [
            members.reversed().joined(separator: "&"), "\(query)&", "&\(query)", query.replacing("%", with: "%25"),
            query.replacing("%3A", with: ":"), query.replacing("%3A", with: "%3a"),
        ]
        for other in others {
            let path = "/signed/\(row.signature)/\(Base64URL.text(of: other.utf8))"
            #expect(try await site().problem(path).type == "/problems/signature-wrong", "\(other)")
        }
    }

    @Test func `A huge signature is refused like any other`() async throws {
        let huge = String(repeating: "A", count: 30_000)
        for target in ["/image?url=x&s=k1.\(huge)", "/image?url=x&s=\(huge)", "/signed/\(huge)/AAAA"] {
            #expect(try await site().problem(target).type == "/problems/signature-wrong")
        }
        #expect(try await site().problem("/image?url=x&s=\(huge)\(huge)").type == "/problems/target-too-long")
    }

    @Test func `A server without keys has no right signature`() async throws {
        let url = try #require(vectors.valid.first?.url)
        #expect(try await TestSite().problem(url).type == "/problems/signature-wrong")
        #expect(try await TestSite().respond("/image?url=https://example.com/photo.jpg").status == .ok)
    }

    @Test func `Nothing that prints a key prints its secret`() throws {
        let secret = String(repeating: "very-secret-", count: 3)
        let key = try SigningKey(id: "k1", secret: secret)
        var dumped = ""
        dump(key, to: &dumped)
        var access = Access()
        access.signingKeys = [key]
        for text in ["\(key)", String(reflecting: key), dumped, "\(access)", String(reflecting: access)] {
            #expect(text.contains("k1"))
            #expect(!text.contains("secret-"))
        }
    }
}
