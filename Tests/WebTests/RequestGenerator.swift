import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomTestClock
import DarkroomTestRandom
import Foundation

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// Requests of all kinds that the contract knows, in a random order that a seed determines. Few targets are repeated
/// often, so that most of their requests can be hits.
struct RequestGenerator {
    struct Step: Sendable {
        /// The request as it is sent, once ``RequestGenerator/lastTag`` is replaced.
        var text: String
        var target: String
        /// Whether it has a valid id of its own.
        var hasOwnID: Bool
        /// The seconds that pass before it.
        var pause: Double
        /// What is purged before it.
        var purged: PurgeTarget?
    }

    /// Stands for the entity tag of the last response with the same target.
    static let lastTag = "{tag}"

    private var random: SeededRandom
    private let targets: [String]

    init(seed: UInt64, site: HitTests.Site, configuration: WebConfiguration, clock: TestClock) throws {
        random = SeededRandom(seed: seed)
        var configuration = configuration
        configuration.now = { clock.date }
        configuration.publicURL = nil
        targets = site == .signed ? try Self.signed(configuration, at: clock.date) : Self.queries
    }

    mutating func next() throws -> Step {
        var fields: [String] = []
        for (choices, share) in Self.fields where chance(share) { fields.append(pick(choices)) }
        let hasOwnID = chance(0.2)
        if hasOwnID { fields.append("X-Request-Id: own.\(random.next() % 9)") }
        let method = chance(0.15) ? "HEAD" : "GET"
        let target = pick(chance(0.5) ? Array(targets.prefix(8)) : targets)
        let lines = ["\(method) \(target) HTTP/1.1", "Host: x"] + fields
        return Step(
            text: lines.joined(separator: "\r\n") + "\r\n\r\n", target: target, hasOwnID: hasOwnID,
            pause: chance(0.1) ? pick([0.4, 1, 7.3, 25]) : 0,
            purged: chance(0.02)
                ? pick([PurgeTarget.everything, .host("a.org"), .prefix("http://a.org/fresh")]) : nil)
    }

    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(random.next() % UInt64(elements.count))]
    }

    // MARK: Targets

    private static let queries: [String] = [
        "/image?url=http://a.org/fresh", "/image?url=http://a.org/fresh&output=webp",
        "/image?url=http%3A%2F%2Fa.org%2Ffresh&q=5&filename=a.jpg", "/image?url=http://a.org/fresh&maxage=60",
        "/image?url=http://a.org/fresh&maxage=2d", "/image?url=http://a.org/fresh&placeholder=color,blurhash",
        "/image?url=http://a.org/modified&w=7", "/image?url=http://a.org/short",
        "/image?url=http://a.org/short&cache=force-cache", "/image?url=http://a.org/private&output=avif",
        "/image?url=http://a.org/nostore", "/image?url=http://a.org/nocache", "/image?url=http://a.org/vary",
        "/image?url=http://a.org/immutable&preset=small", "/image?url=http://a.org/fresh&preset=small",
        "/image?url=http://a.org/missing&default=http://a.org/fresh", "/image?url=http://a.org/missing",
        "/image?url=http://a.org/fresh&cache=only-if-cached", "/image?url=http://a.org/fresh&cache=reload",
        "/image?url=http://a.org/fresh&store=none&w=3", "/image?url=http://a.org/fresh&wait=stored&w=4",
        "/image?url=http://a.org/fresh&priority=low", "/image?url=http://a.org/fresh&w=0",
        "/image?url=http://a.org/fresh&output=json", "/info?url=http://a.org/fresh",
        "/info?url=http://a.org/fresh&fields=cache", "/srcset?url=http://a.org/fresh&widths=100",
        "/image?url=http://a.org/fresh&mark=http://a.org/short&w=9",
        "/image?url=http://a.org/short&mark=http://a.org/fresh",
        "/image?url=http://a.org/fresh&mark=http://a.org/private",
        "/image?url=http://a.org/fresh&mark=http://a.org/missing",
        "/image?url=http://a.org/fresh#", "/nowhere", "/health/live",
    ]

    private static func signed(_ configuration: WebConfiguration, at now: Date) throws -> [String] {
        let signer = URLSigner(configuration)
        let fresh = "/image?url=http://a.org/fresh"
        var targets = [
            try signer.sign(fresh, keyID: "k1", inPath: true), try signer.sign(fresh + "&preset=small", keyID: "slow"),
        ]
        for seconds in [20.0, 90, 100_000] {
            let expires = now.addingTimeInterval(seconds)
            targets.append(try signer.sign(fresh, keyID: "k1", expires: expires))
            targets.append(try signer.sign(fresh, keyID: "k1", expires: expires, inPath: true))
        }
        targets += [fresh, "/health/live"]
        for query in queries where !query.contains("w=0") && query.hasPrefix("/image?url=http://a.org/") {
            guard let plain = try? signer.sign(query, keyID: "k1") else { continue }
            targets += [plain, plain.replacingOccurrences(of: "s=k1.", with: "s=k1.A")]
        }
        return targets
    }

    // MARK: Fields

    /// Lines to choose from, and how often one of them is sent.
    private static let fields: [([String], Double)] = [
        (
            [
                "Accept: image/avif,image/webp,*/*;q=0.8", "accept: image/webp;q=0", "Accept: */*",
                "Accept: image/jpeg\r\nAccept: image/webp",
            ], 0.5
        ),
        (
            [
                "If-None-Match: \(lastTag)", "If-None-Match: W/\(lastTag), \"x\"", "If-None-Match: *",
                "If-None-Match: \"a\", W/\"b\"", "If-None-Match: oops",
                "If-Modified-Since: Sun, 06 Nov 1994 08:00:00 GMT", "If-Modified-Since: Sun, 06 Nov 1994 07:00:00 GMT",
                "If-Modified-Since: never", "If-None-Match: \"a\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 09:00:00 GMT",
            ], 0.3
        ),
        (["Range: bytes=0-3", "If-Range: \"a\"\r\nRange: bytes=0-3"], 0.1),
        (
            [
                "Cache-Control: no-cache", "Cache-Control: max-age=0", "Cache-Control: max-age=5",
                "Cache-Control: min-fresh=20", "Cache-Control: max-stale", "Cache-Control: only-if-cached",
                "Cache-Control: no-store", "Pragma: no-cache",
            ], 0.1
        ),
        (["Origin: https://a.org", "Origin: https://b.org", "Origin: null"], 0.2),
        (["Authorization: Bearer t", "Authorization: Bearer x", "Authorization: Basic t"], 0.05),
        (["Priority: u=1", "Priority: u=7, i"], 0.1), (["Save-Data: on", "DPR: 2"], 0.1),
        (["Via: 1.1 cdn", "Via: 1.1 us", "Via: HTTP/1.1 us (a), 1.1 b"], 0.1),
        (
            [
                "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.2, 127.0.0.9", "Forwarded: for=192.0.2.3",
                "Forwarded: for=192.0.2.4\r\nX-Forwarded-For: 192.0.2.5", "X-Forwarded-For: unknown",
            ], 0.5
        ),
        (
            [
                "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "traceparent: oops",
                "tracestate: a=1",
            ], 0.2
        ),
        (["Connection: keep-alive", "User-Agent: test\r\nCookie: a=b\r\nAccept-Encoding: gzip, br"], 0.3),
    ]
}
