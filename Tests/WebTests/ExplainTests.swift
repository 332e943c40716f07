import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomTransforms
@testable import DarkroomWeb

extension ExplainEndpoint {
    /// Explains nothing.
    static func idle() -> ExplainEndpoint {
        ExplainEndpoint(image: ImageEndpoint(configuration: WebConfiguration()) { _ in .stub() }) {
            _, _ throws(PipelineError) in throw .failed
        }
    }
}

extension Explanation {
    /// Of a source that is cached, or of one that is not.
    static func stub(plan: PlanOutcome) -> Explanation {
        let stored = StoredResponse(
            status: 200, fields: [.cacheControl: "max-age=100"], sent: [:], requestedAt: ImageResponse.madeAt,
            receivedAt: ImageResponse.madeAt
        ).freshness(FreshnessPolicy())
        let evaluation = CacheEvaluation(
            stored: stored, isSelected: true, policy: RequestCachePolicy(), now: ImageResponse.madeAt)
        let digest = String(repeating: "0f", count: 32)
        return Explanation(
            source: "https://example.com/a.jpg", fallback: nil,
            keys: Keys(
                filter: "F", identity: "i", source: digest, original: digest, record: digest, variant: digest,
                encoderEpoch: "e"),
            caches: [
                CachedEntry(kind: .record, key: digest, tiers: .all, bytes: 9, age: .seconds(1), hits: 2),
                CachedEntry(kind: .original, key: digest, tiers: .disk, bytes: 9),
                CachedEntry(kind: .variant, key: digest, format: .webp),
            ],
            freshness: Verdict(
                evaluation: evaluation, lifetime: .seconds(100), age: .milliseconds(1_500), remaining: .seconds(-3)),
            format: .webp, plan: plan, limits: [LimitUsage(setting: "max-output-side", value: 4_096, limit: 8_192)])
    }

    static let plan = ImagePlan(
        sourceFormat: .jpeg, sourceSize: PixelSize(width: 40, height: 30), sourceFrames: 1, sourceBytes: 1 << 20,
        framesUsed: 1, shrinkOnLoad: 1 / 3, steps: [.init(name: "decode", size: PixelSize(width: 4, height: 3))],
        format: .webp, size: PixelSize(width: 4, height: 3), frames: 1, isExact: true,
        largest: PixelSize(width: 1, height: 1), estimatedMemoryBytes: 99)
}

struct ExplainTests {
    /// Keeps what an endpoint was asked.
    private final class Asked: Sendable {
        let requests = Mutex<[(ImageRequest, Bool)]>([])
    }

    private func respond(
        _ query: String, fields: HTTPFields = [:], plan: Explanation.PlanOutcome = .planned(Explanation.plan),
        configuration: WebConfiguration = WebConfiguration(viaPseudonym: "us"), asked: Asked = Asked(),
        failure: PipelineError? = nil
    ) async throws -> Response {
        let image = ImageEndpoint(configuration: configuration) { _ in .stub() }
        let endpoint = ExplainEndpoint(image: image) { request, fetch throws(PipelineError) in
            asked.requests.withLock { $0.append((request, fetch)) }
            if let failure { throw failure }
            return .stub(plan: plan)
        }
        return try await TestSite(.idle(image: image, explain: endpoint)).respond("/explain?" + query, fields: fields)
    }

    private func json(_ response: Response) async throws -> [String: Any] {
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.cacheControl] == "no-store")
        let text = try await response.text()
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `A query means the same as for /image, and fetch is separate`() async throws {
        let asked = Asked()
        _ = try await respond(
            "url=https%3A%2F%2FExample.com%2Fa.jpg&w=200&dpr=2&output=webp&fetch", fields: [.cacheControl: "max-age=7"],
            asked: asked)
        _ = try await respond("url=https://example.com/a.jpg", asked: asked)
        let requests = asked.requests.withLock { $0 }
        #expect(requests.map(\.1) == [true, false])
        #expect(requests[0].0.recipe.box == Box(width: 400, height: nil))
        #expect(requests[0].0.output.format == .webp)
        #expect(requests[0].0.cache.policy.directives.maxAge == .seconds(7))
    }

    @Test func `The document is complete, and omits unknown values`() async throws {
        let known = try await json(try await respond("url=https://example.com/a.jpg&h=4&w=3&output=webp"))
        let request = try #require(known["request"] as? [String: Any])
        #expect(
            request["canonical"] as? String
                == "/image?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=3&h=4&output=webp")
        let freshness = try #require(known["freshness"] as? [String: Any])
        #expect(freshness["decision"] as? String == "use")
        #expect(freshness["because"] as? String == "fresh")
        #expect(freshness["rfc"] as? String == "RFC 9111 §5.2.2.1")
        #expect(freshness["age_seconds"] as? Double == 1.5)
        #expect(freshness["remaining_seconds"] as? Double == -3)
        let plan = try #require(known["plan"] as? [String: Any])
        #expect(plan["shrink_on_load"] as? Double == 0.333)
        let limits = try #require(known["limits"] as? [[String: Any]])
        #expect(limits.map { $0["setting"] as? String } == ["max-source-bytes", "max-output-side"])
        #expect(limits.map { $0["share"] as? Double } == [0.02, 0.5])
        #expect(known["plan_missing"] == nil)
        let unknown = try await json(try await respond("url=https://example.com/a.jpg", plan: .missing("Because.")))
        #expect(unknown["plan"] == nil)
        #expect(unknown["plan_missing"] as? String == "Because.")
    }

    @Test(arguments: [
        ("&output=jpg", "image/webp", "The parameter 'output' asks for it."),
        ("", "image/avif,image/webp", "Accept names image/avif, image/webp."),
        (
            "", "image/*",
            "Accept does not name image/avif, image/webp, so it is the source's own format, or JPEG or PNG where Accept does not cover that."
        ),
    ])
    func `The reason for a format is what the negotiation found`(query: String, accept: String, reason: String)
        async throws
    {
        let document = try await json(
            try await respond("url=https://example.com/a.jpg" + query, fields: [.accept: accept]))
        #expect((document["format"] as? [String: Any])?["reason"] as? String == reason)
    }

    @Test func `Invalid queries and sources are the same problems as for /image`() async throws {
        for (query, status) in [
            ("url=https://example.com/a.jpg&fetch=maybe", 400), ("w=1", 400), ("url=a", 400),
            ("url=https://example.com/a.jpg&width=1", 400), ("url=https://example.com/a.jpg&cache=reload", 403),
        ] {
            #expect(try await respond(query).status.code == status, "\(query)")
        }
        let url = "url=https://example.com/a.jpg"
        #expect(try await respond(url, failure: .notAllowed("No.")).status == .forbidden)
        #expect(try await respond(url, fields: [.via: "1.1 us"]).status.code == 508)
        let token = "correct-horse-battery"
        let allowed = try await respond(
            url + "&cache=reload", fields: [.authorization: "Bearer \(token)"],
            configuration: WebConfiguration(adminToken: token))
        #expect(allowed.status == .ok)
    }
}
