import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomWeb

extension EntriesEndpoint {
    /// Knows of nothing.
    static func idle() -> EntriesEndpoint { EntriesEndpoint { _ in .stub(isKnown: false) } }
}

extension SourceEntries {
    static func stub(isKnown: Bool) -> SourceEntries {
        let digest = String(repeating: "0f", count: 32)
        let record = Record(
            contentDigest: digest, fetchedAt: ImageResponse.madeAt, remaining: .milliseconds(12_345),
            originFields: [.cacheControl: "max-age=60", .eTag: "\"a\""])
        let entry = CachedEntry(
            kind: .variant, key: digest, tiers: [.memory, .disk], bytes: 9, age: .seconds(1), hits: 2, format: .webp)
        return SourceEntries(
            url: "https://example.com/a.jpg", key: digest, record: isKnown ? record : nil,
            entries: isKnown ? [entry] : [])
    }
}

struct EntriesTests {
    private let token = "correct-horse-battery"

    private func respond(_ query: String, token given: String?, isKnown: Bool = true) async throws -> Response {
        let endpoint = EntriesEndpoint { _ in .stub(isKnown: isKnown) }
        var fields: HTTPFields = [:]
        fields[.authorization] = given.map { "Bearer \($0)" }
        return try await TestSite(.idle(entries: endpoint), configuration: .test(token: token))
            .respond("/cache/entries" + query, fields: fields)
    }

    @Test func `The token gives access to a source's entries`() async throws {
        let digest = String(repeating: "0f", count: 32)
        let known = try await respond("?url=https://example.com/a.jpg", token: token)
        #expect(known.headers[.cacheControl] == "no-store")
        #expect(
            try await known.text()
                == #"{"content_sha256":"\#(digest)","entries":[{"age_seconds":1,"bytes":9,"disk":true,"entry":"variant","#
                + #""format":"webp","hits":2,"key":"\#(digest)","memory":true}],"fetched":"1994-11-06T08:49:37Z","#
                + #""origin":{"cache-control":"max-age=60","etag":"\"a\""},"remaining_seconds":12.345,"#
                + #""source":"\#(digest)","url":"https://example.com/a.jpg"}"#)
        let unknown = try await respond("?url=https://example.com/a.jpg", token: token, isKnown: false)
        #expect(unknown.status == .ok)
        #expect(
            try await unknown.text()
                == #"{"entries":[],"source":"\#(digest)","url":"https://example.com/a.jpg"}"#)
    }

    @Test func `Without the token even the validity of the query is hidden`() async throws {
        for query in ["?url=https://example.com/a.jpg", "?nonsense"] {
            #expect(try await respond(query, token: nil).status == .unauthorized)
            #expect(try await respond(query, token: "wrong").status == .unauthorized)
        }
        let closed = try await TestSite().respond("/cache/entries?url=https://example.com/a.jpg")
        #expect(closed.status == .forbidden)
    }

    @Test(arguments: ["", "?url", "?url=a", "?url=https://a.org/&w=1", "?url=https://a.org/&url=https://a.org/"])
    func `An invalid query is refused`(query: String) async throws {
        #expect(try await respond(query, token: token).status == .badRequest)
    }
}
