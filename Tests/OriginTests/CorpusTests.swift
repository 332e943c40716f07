import Foundation
import NIOPosix
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

@Suite(.enabled(if: Corpus.folder != nil, "the reference corpus is not beside the repository"))
struct CorpusTests {
    struct URLCase: Decodable {
        let id: String
        let url: String
        let expected: String
        let whatwgHost: String

        enum CodingKeys: String, CodingKey {
            case id, url, expected
            case whatwgHost = "whatwg_host"
        }
    }

    private func urlCases(_ expected: String...) throws -> [URLCase] {
        try Corpus.text("ssrf/url-cases.jsonl").split(separator: "\n")
            .map { try JSONDecoder().decode(URLCase.self, from: Data($0.utf8)) }
            .filter { expected.contains($0.expected) }
    }

    @Test func `Every address of the reference table is judged as listed`() throws {
        let rows = try Corpus.text("ssrf/ip-ranges.tsv").split(separator: "\n").dropFirst()
        #expect(rows.count > 50)
        for row in rows {
            let fields = row.split(separator: "\t", omittingEmptySubsequences: false)
            let address = try #require(IPAddress(String(fields[0])), "\(row)")
            #expect(AddressPolicy().permits(address) == (fields[1] == "allow"), "\(row)")
        }
    }

    @Test func `URLs that lead to forbidden addresses are refused without a look-up`() async throws {
        let nameLookup = ScriptedNameLookup()
        let client = GuardedHTTPClient(nameLookup: nameLookup, eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
        for row in try urlCases("block") {
            let url = try SourceURL(parsing: row.url)
            #expect(url.host?.urlText == row.whatwgHost, "\(row)")
            let failure = await client.failure(of: url)
            #expect(failure == .notAllowed(.address) || failure == .notAllowed(.port), "\(row)")
        }
        #expect(nameLookup.questions.isEmpty)
        await client.shutdown()
    }

    @Test func `Names that resolve to forbidden addresses are refused after one look-up`() async throws {
        for row in try urlCases("block-after-dns") {
            let url = try SourceURL(parsing: row.url)
            let nameLookup = ScriptedNameLookup([row.whatwgHost: [["127.0.0.1"]]])
            let anyPort = HostPolicy(allowPorts: [url.port ?? 0])
            let vetting = SourceGuard(hosts: anyPort, addresses: AddressPolicy(), nameLookup: nameLookup)
            let name = row.whatwgHost.hasSuffix(".") ? String(row.whatwgHost.dropLast()) : row.whatwgHost
            let isLocalhost = name == "localhost" || name.hasSuffix(".localhost")
            let expected = isLocalhost ? OriginError.notAllowed(.address) : .unreachable(.dns)
            await #expect(throws: expected, "\(row)") { try await vetting.vet(url) }
            #expect(nameLookup.questions == [row.whatwgHost])
        }
    }

    @Test func `URLs that no browser would read are invalid`() throws {
        for row in try urlCases("reject-invalid") {
            let error = #expect(throws: SourceURLError.self, "\(row)") { try SourceURL(parsing: row.url) }
            // The reference parser knows more schemes than we serve; what it finds wrong in those we never look at.
            if row.url.hasPrefix("http") {
                #expect([.invalidHost, .emptyHost, .invalidPort].contains(error), "\(row)")
            }
        }
    }

    @Test func `Other schemes are refused by name`() throws {
        for row in try urlCases("reject-scheme") {
            let scheme = row.url.split(separator: ":")[0].lowercased()
            #expect(throws: SourceURLError.unsupportedScheme(scheme), "\(row)") { try SourceURL(parsing: row.url) }
        }
    }

    @Test func `URLs of public sources are read as browsers do and pass the guard`() async throws {
        for row in try urlCases("public-name", "public-ip") {
            let url = try SourceURL(parsing: row.url)
            #expect(url.host?.urlText == row.whatwgHost, "\(row)")
            let nameLookup = ScriptedNameLookup([row.whatwgHost: [["93.184.215.14"]]])
            let anyPort = HostPolicy(allowPorts: [url.port ?? 0])
            let vetting = SourceGuard(hosts: anyPort, addresses: AddressPolicy(), nameLookup: nameLookup)
            #expect(try await vetting.vet(url).count == 1, "\(row)")
        }
    }
}
