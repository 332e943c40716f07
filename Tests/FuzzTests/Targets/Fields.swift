import Foundation
import HTTPTypes
import Testing

@testable import DarkroomHTTPCaching
@testable import DarkroomQuery
@testable import DarkroomWeb

extension FuzzTests {
    private static let now = Date(timeIntervalSince1970: 1_795_000_000)

    @Test func `A date that was read is written as the same date`() {
        let seeds = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        fuzzer.run("date", seeds: seeds, words: ["GMT", "Feb", "29", "9999", "0001", "60"]) { input in
            guard let date = HTTPDate(parsing: String(decoding: input, as: UTF8.self), now: Self.now) else { return }
            try hold(HTTPDate(parsing: date.description, now: Self.now) == date, date.description)
        }
    }

    @Test func `Entity tags are written as they were read`() {
        let seeds = ["\"a\"", "W/\"a,b\", \"\" ,, \"c\"", "*", " , \"é\""]
        fuzzer.run("entity-tags", seeds: seeds, words: ["W/", "\""]) { input in
            let text = String(decoding: input, as: UTF8.self)
            if let tag = EntityTag(parsing: text) { try hold(tag.description == text, tag.description) }
            guard case .tags(let tags) = EntityTagCondition(parsing: text) else { return }
            let written = tags.map(\.description).joined(separator: ", ")
            try hold(EntityTagCondition(parsing: written) == .tags(tags), written)
        }
    }

    @Test func `What an origin says of keeping is understood or ignored`() {
        fuzzer.run("response-fields", seeds: Self.responses, words: Self.fieldWords) { input in
            var stored = StoredResponse(
                status: 200, fields: Self.fields(input), sent: [.accept: "*/*"], requestedAt: Self.now,
                receivedAt: Self.now.addingTimeInterval(1))
            stored.staleSince = input.count % 2 == 0 ? Self.now : nil
            for policy in [FreshnessPolicy(), FreshnessPolicy(respectsOrigin: false)] {
                try Self.judge(stored, policy)
            }
            try hold(stored.tags.count <= 128, "\(stored.tags.count) tags")
        }
    }

    private static func judge(_ stored: StoredResponse, _ policy: FreshnessPolicy) throws {
        let freshness = stored.freshness(policy)
        try hold(freshness.lifetime <= policy.maxFresh, "a lifetime of \(freshness.lifetime)")
        try hold(freshness.age(at: now.addingTimeInterval(5)) >= .zero, "an age of \(freshness.age(at: now))")
        _ = (
            stored.mayBeStored(policy), stored.explicitLifetime(policy), stored.validators,
            stored.isConfirmed(by: stored.fields)
        )
        _ = (freshness.remaining(at: .distantPast), freshness.allowsStaleOnError(at: .distantFuture))
        let terms = ClientCachePolicy(stored, policy: policy)
        _ = terms.cacheControl(age: freshness.age(at: now), asked: nil, cap: .seconds(60)).description
        _ = (stored.isSelected(bySending: [.accept: "image/webp"]), stored.fields.retryAfter(now: now))
    }

    @Test func `What a client says of caches, formats and priority is understood or ignored`() {
        fuzzer.run("request-fields", seeds: Self.requests, words: Self.fieldWords + ["u=", ";q=", "image/webp"]) {
            input in
            let fields = Self.fields(input)
            _ = RequestDirectives(fields)
            let tag = EntityTag("a")
            _ = Preconditions.evaluate(method: .get, fields: fields, tag: tag, lastModified: Self.now)
            let text = String(decoding: input, as: UTF8.self)
            if let list = FormatList(parsing: "avif,webp") {
                let accepted = AcceptField(text).named(of: list)
                try hold(accepted.formats.allSatisfy(list.contains), text)
            }
            _ = ClientHints(pixelRatio: text, width: text)
            try hold((0...7).contains(RequestPriority(parsing: text).urgency), text)
        }
    }

    /// Lines as in a head, without lines that no field could have.
    private static func fields(_ input: [UInt8]) -> HTTPFields {
        var fields = HTTPFields()
        for line in String(decoding: input, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else { continue }
            fields.append(HTTPField(name: name, value: String(parts[1]).trimmingCharacters(in: .whitespaces)))
        }
        return fields
    }

    private static let fieldWords = [
        "max-age=", "s-maxage=", "no-cache", "private", "stale-while-revalidate=", "Age: ", "Vary: *", "\nDate: ",
        "\nExpires: ",
        "Sun, 06 Nov 1994 08:49:37 GMT", "CDN-Cache-Control: ",
    ]
    private static let responses = [
        "Cache-Control: max-age=60, stale-while-revalidate=9\nDate: Sat, 21 Nov 2026 10:00:00 GMT\nETag: \"a\"\nAge: 5",
        "CDN-Cache-Control: max-age=600, private=\"a\"\nCache-Control: no-store\nVary: Accept, Origin",
        "Expires: 0\nLast-Modified: Sat, 21 Nov 1926 10:00:00 GMT\nSurrogate-Key: a b c\nCache-Tag: d,e",
        "Retry-After: 120\nCache-Control: must-understand, no-store, s-maxage=1",
    ]
    private static let requests = [
        "Cache-Control: max-age=0, min-fresh=5, max-stale\nIf-None-Match: \"a\", W/\"b\"", "u=1, i",
        "u=7;x=\"\\\"\", i=?0",
        "If-Modified-Since: Sat, 21 Nov 2026 10:00:00 GMT\nPragma: no-cache", "image/avif,image/webp;q=0.8,*/*;q=0.1",
    ]
}
