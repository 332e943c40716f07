import Foundation
import HTTPCaching
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Origin
import Synchronization
import Testing
import Transforms

@testable import Pipeline
@testable import Web

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
        let judgement = CacheJudgement(
            stored: stored, isSelected: true, demand: CacheDemand(), now: ImageResponse.madeAt)
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
                judgement: judgement, lifetime: .seconds(100), age: .milliseconds(1_500), remaining: .seconds(-3)),
            format: .webp, plan: plan, limits: [LimitUse(setting: "max-output-side", value: 4_096, limit: 8_192)])
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
        let router = makeRouter(.idle(image: image, explain: endpoint), logger: .quiet)
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: "localhost", path: "/explain?" + query, headerFields: fields)
        return try await router.buildResponder().respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: .test)
    }

    private func json(_ response: Response) async throws -> [String: Any] {
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.cacheControl] == "no-store")
        let text = try await response.text()
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `a query means what it means for a picture, and fetch is told apart`() async throws {
        let asked = Asked()
        _ = try await respond(
            "url=https%3A%2F%2FExample.com%2Fa.jpg&w=200&dpr=2&output=webp&fetch", fields: [.cacheControl: "max-age=7"],
            asked: asked)
        _ = try await respond("url=https://example.com/a.jpg", asked: asked)
        let requests = asked.requests.withLock { $0 }
        #expect(requests.map(\.1) == [true, false])
        #expect(requests[0].0.recipe.box == Box(width: 400, height: nil))
        #expect(requests[0].0.output.format == .webp)
        #expect(requests[0].0.cache.demand.directives.maxAge == .seconds(7))
    }

    @Test func `the document tells everything, and leaves out what is not known`() async throws {
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
        ("", "image/avif,image/webp", "Accept names image/webp."),
        (
            "", "image/*",
            "Accept does not name image/webp, so it is the source's own format, or JPEG or PNG where browsers do not show that."
        ),
    ])
    func `the reason for a format is what negotiation went by`(query: String, accept: String, reason: String)
        async throws
    {
        let document = try await json(
            try await respond("url=https://example.com/a.jpg" + query, fields: [.accept: accept]))
        #expect((document["format"] as? [String: Any])?["reason"] as? String == reason)
    }

    @Test func `what is wrong with a query or its source is a problem as for a picture`() async throws {
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

/// One spelling for each meaning.
struct CanonicalQueryTests {
    private let grammar = QueryGrammar()

    private func canonical(_ query: String) throws -> String {
        try grammar.parse("url=x" + query).canonical(grammar.limits)
    }

    @Test(arguments: [
        ("&h=3&w=4", "&w=4&h=3"), ("&w=100&dpr=2", "&w=200"), ("&output=jpeg&q=80", "&output=jpg"), ("&fit=cover", ""),
        ("&w=1&h=2&fit=cover&a=tl", "&w=1&h=2&fit=cover&a=top-left"), ("&bg=FFF", "&bg=ffffff"),
        ("&bg=f008", "&bg=ff000088"), ("&trim", "&trim=10"), ("&blur", "&blur"), ("&blur=2.50", "&blur=2.5"),
        ("&w=1&h=2&fit=cover&a=focal&fpx=0.00001", "&w=1&h=2&fit=cover&a=focal&fpx=0.00001&fpy=0.5"),
        ("&w=1&h=2&fit=contain&a=focal&fpx=0.3", "&w=1&h=2&fit=contain&a=focal&fpx=0.3&fpy=0.5"),
        ("&orient=1", "&orient=none"), ("&maxage=1h", "&maxage=3600s"), ("&crop=1,2,3,4", "&crop=1,2,3,4"),
        ("&output=json&fields=exif,color", "&output=json&fields=color,exif"), ("&flip&flop=0", "&flip=true"),
        ("&default=https://a.org/b%26c", "&default=https%3A%2F%2Fa.org%2Fb%26c"), ("&we&w=9", "&w=9"),
    ])
    func `a query has one spelling`(query: String, expected: String) throws {
        #expect(try canonical(query) == "url=x" + expected)
    }

    /// Of each parameter some values; together they make random queries.
    private static let values: [String: [String]] = [
        "default": ["https://a.org/%C3%A9?x=1%262"], "w": ["1", "640"], "h": ["7", "480"], "dpr": ["1.5", "2"],
        "fit": ["inside", "outside", "cover", "contain", "fill"], "enlarge": ["true", "0"], "scaledown": ["1"],
        "resample": ["fast", "accurate", "linear"], "crop": ["0,1,2,3"], "trim": ["", "99"],
        "orient": ["auto", "none", "1", "3", "8"], "ro": ["0", "45", "270"], "flip": ["", "false"], "flop": ["true"],
        "bg": ["red", "0f08", "transparent", "123456"], "bri": ["-20", "0", "7"], "con": ["-9", "30"],
        "sat": ["0", "0.25", "1", "1.000"], "hue": ["0", "90"], "gam": ["", "1", "2.75"], "tint": ["f0f", "00ff0011"],
        "filt": ["sepia", "greyscale", "negate"], "blur": ["", "0.3", "12.345678"], "sharp": ["", "1.5"],
        "output": ["auto", "jpeg", "png", "webp", "avif", "gif", "jxl", "tif", "lqip", "color"],
        "q": ["1", "80", "79", "100"], "ll": ["", "false"], "il": ["true"], "n": ["1", "9"], "page": ["1", "4"],
        "cache": ["default", "force-cache", "only-if-cached"],
        "store": ["all", "memory", "original", "variant", "none"], "wait": ["stored"],
        "priority": ["low", "normal", "high"], "maxage": ["90s", "1y", "2w"], "filename": ["a-b_c.jpg"],
    ]

    private static let places = ["", "&a=top", "&a=left-bottom", "&a=entropy", "&a=focal&fpx=0.125", "&a=focal&fpy=1"]

    @Test func `the spelling means what the query meant, and is its own spelling`() throws {
        let names = grammar.table.parameters.map(\.name)
        #expect(Set(Self.values.keys).union(["url", "a", "fpx", "fpy", "we", "fields"]) == Set(names))
        for _ in 0..<2_000 {
            var query = Self.values.shuffled().prefix(.random(in: 0...12)).map { "&\($0)=\($1.randomElement() ?? "")" }
                .joined()
            query += Self.places.randomElement() ?? ""
            let meaning = try grammar.parse("url=https%3A%2F%2Fexample.com%2F%3Fa%3Db%26c" + query)
            let spelling = meaning.canonical(grammar.limits)
            #expect(try grammar.parse(spelling) == meaning, "\(query)")
            #expect(try grammar.parse(spelling).canonical(grammar.limits) == spelling, "\(query)")
        }
    }
}
