import DarkroomHTTPServer
import DarkroomRequests
import HTTPTypes
import Hummingbird
import Synchronization
import Testing

@testable import DarkroomPipeline
@testable import DarkroomWeb

/// `placeholder=` of `/image`, as fields of the answer.
struct PlaceholderFieldTests {
    private let source = "/image?url=https://example.com/a.jpg&output=webp&placeholder="
    private let all = Placeholders(
        blurHash: "LiE{Uj2lwyX5qKWFjue;gKfkfQfj", thumbHash: "WQgODJZwd4eAeIiHiHdwcwf3eA==", dominantColor: "#1b1844",
        lqip: "data:image/webp;base64,UklGRg==")

    private func fields(_ response: Response) -> [String: String] {
        response.headers.reduce(into: [:]) { fields, field in
            guard field.name.rawName.hasPrefix("X-Placeholder-") else { return }
            fields[field.name.rawName] = field.value
        }
    }

    @Test func `Placeholders are fields of responses to GET and HEAD, and of a 304`() async throws {
        let site = TestSite { [all] _ in .stub(placeholders: all) }
        let expected = [
            "X-Placeholder-BlurHash": "LiE{Uj2lwyX5qKWFjue;gKfkfQfj",
            "X-Placeholder-ThumbHash": "WQgODJZwd4eAeIiHiHdwcwf3eA==", "X-Placeholder-Color": "#1b1844",
            "X-Placeholder-Lqip": "data:image/webp;base64,UklGRg==",
        ]
        let target = source + "lqip,color,thumbhash,blurhash"
        let whole = try await site.respond(target)
        #expect(fields(whole) == expected)
        #expect(whole.headers[.cacheControl] == "public, max-age=3600")
        #expect(fields(try await site.respond(target, method: .head)) == expected)
        let known = try await site.respond(target, fields: [.ifNoneMatch: "*"])
        #expect(known.status == .notModified)
        #expect(fields(known) == expected)
    }

    @Test func `The pipeline is asked for the image and the named placeholders, in any order`() async throws {
        let asked = Mutex<[ImageRequest]>([])
        let site = TestSite { request in
            asked.withLock { $0.append(request) }
            return .stub()
        }
        for names in ["color,lqip", "lqip,color,lqip"] { _ = try await site.respond(source + names) }
        _ = try await site.respond("/image?url=https://example.com/a.jpg")
        #expect(asked.withLock { $0.map(\.placeholders) } == [[.color, .lqip], [.color, .lqip], []])
        #expect(asked.withLock { $0.map(\.output.format) } == [.webp, .webp, nil])
    }

    @Test func `A response that lacks requested placeholders is not cacheable`() async throws {
        let site = TestSite { _ in .stub() }
        let response = try await site.respond(source + "color")
        #expect(response.status == .ok)
        #expect(try await response.text() == "bytes")
        #expect(fields(response).isEmpty)
        #expect(response.headers[.cacheControl] == "no-store")
    }

    @Test func `Placeholders that were not requested are omitted`() async throws {
        let site = TestSite { _ in .stub(placeholders: Placeholders(dominantColor: "#000000")) }
        #expect(fields(try await site.respond(source + "color")) == ["X-Placeholder-Color": "#000000"])
        #expect(try await site.problem(source + "colour").parameter == "placeholder")
    }
}
