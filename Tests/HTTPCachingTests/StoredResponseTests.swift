import Foundation
import HTTPTypes
import Testing

@testable import DarkroomHTTPCaching

struct StoredResponseTests {
    @Test func `Only the fields that a cache reads are kept, as they came`() {
        let stored = Origin.response(
            [
                "Set-Cookie: a", "X-Secret: b", "cache-control: max-age=1", "Cache-Control: public", "ETag: \"t\"",
                "Content-Type: image/png", "Surrogate-Key: k", "CDN-Cache-Control: max-age=2", "Pragma: no-cache",
            ], date: nil, sent: ["Authorization: s", "Accept: image/*"])
        #expect(
            stored.fields
                == Origin.fields([
                    "Cache-Control: max-age=1", "Cache-Control: public", "ETag: \"t\"", "Content-Type: image/png",
                    "Surrogate-Key: k", "CDN-Cache-Control: max-age=2",
                ]))
        #expect(stored.requestFields.isEmpty)
    }

    @Test(
        arguments: [
            ([], 200, true), (["Cache-Control: max-age=0"], 200, true), (["Cache-Control: no-cache"], 200, true),
            (["Vary: *"], 200, true), (["Cache-Control: public"], 404, false), ([], 206, false), ([], 304, false),
            (["Cache-Control: no-store"], 200, false), (["Cache-Control: max-age=99, No-STORE"], 200, false),
            (["Cache-Control: private"], 200, false), (["Cache-Control: max-age=9, private"], 200, false),
            (["Cache-Control: private=\"set-cookie\""], 200, false),
            (["Cache-Control: ext=\"no-store, private\""], 200, true),
            (["Cache-Control: no-store, must-understand"], 200, true),
            (["Cache-Control: no-store, must-understand"], 203, true), ([], 203, true), ([], 201, true),
            ([], 299, true),
            (["Cache-Control: no-store, must-understand"], 201, false), ([], 204, false), ([], 205, false),
            (["Cache-Control: max-age=9, must-understand"], 299, false), ([], 300, false), ([], 199, false),
            (["Cache-Control: no-store"], 299, false),
            (["CDN-Cache-Control: max-age=9", "Cache-Control: no-store"], 200, true),
            (["CDN-Cache-Control: max-age=9", "Cache-Control: private"], 200, true),
            (["CDN-Cache-Control: no-store", "Cache-Control: max-age=9"], 200, false),
            (["CDN-Cache-Control: private", "Cache-Control: max-age=9"], 200, false),
            (["CDN-Cache-Control: max-age=x y", "Cache-Control: no-store"], 200, false),
        ] as [([String], Int, Bool)])
    func `A shared cache keeps whole pictures that nobody forbids it to keep`(
        fields: [String], status: Int, mayBeStored: Bool
    ) {
        #expect(Origin.response(fields, status: status).mayBeStored(FreshnessPolicy()) == mayBeStored)
    }

    @Test func `What is no 200 is refused by deaf operators too`() {
        #expect(!Origin.response([], status: 404).mayBeStored(FreshnessPolicy(respectsOrigin: false)))
    }

    @Test(
        arguments: [
            ([], [], ["Accept: a"], true),
            (["Vary: Accept"], ["Accept: a"], ["Accept: a"], true),
            (["Vary: aCCept"], ["Accept: a"], ["ACCEPT: a"], true),
            (["Vary: Accept"], ["Accept: a"], ["Accept: b"], false),
            (["Vary: Accept"], ["Accept: a"], ["Accept: A"], false),
            (["Vary: Accept"], ["Accept: a"], [], false),
            (["Vary: Accept"], [], ["Accept: a"], false),
            (["Vary: Accept"], [], [], true),
            (["Vary: Accept"], [], ["Accept:"], false),
            (["Vary: Accept"], ["Accept: a", "Other: 1"], ["Accept: a", "Other: 2"], true),
            (["Vary: Accept"], ["Accept: a, b"], ["Accept:   a ,b"], true),
            (["Vary: Accept"], ["Accept: a, b"], ["Accept: a", "Accept: b"], true),
            (["Vary: Accept"], ["Accept: a, b"], ["Accept: b, a"], false),
            (["Vary: A, B, C"], ["A: 1", "C: 3"], ["C: 3", "A: 1"], true),
            (["Vary: A, B, C"], ["A: 1", "B: 2", "C: 3"], ["A: 1", "C: 3", "B: 20"], false),
            (["Vary: A", "Vary: B"], ["A: 1", "B: 2"], ["A: 1", "B: 3"], false),
            (["Vary:"], ["A: 1"], ["A: 2"], true), (["Vary: , ,"], ["A: 1"], ["A: 2"], true),
            (["Vary: *"], ["A: 1"], ["A: 1"], false), (["Vary: *, *"], [], [], false), (["Vary: , *"], [], [], false),
            (["Vary:", "Vary: *"], [], [], false), (["Vary: *, A"], ["A: 1"], ["A: 1"], false),
            (["Vary: A, *"], ["A: 1"], ["A: 1"], false), (["Vary: A B"], ["A: 1"], ["A: 1"], false),
            (["Vary: \"A\""], ["A: 1"], ["A: 1"], false),
            (["Vary: A" + String(repeating: ", A", count: 339)], ["A: 1"], ["A: 1"], true),
            (["Vary: A" + String(repeating: ", A", count: 400)], ["A: 1"], ["A: 1"], false),
        ] as [([String], [String], [String], Bool)])
    func `Vary decides for whom a response is`(
        fields: [String], sent: [String], presented: [String], isSelected: Bool
    ) {
        let stored = Origin.response(fields, sent: sent)
        #expect(stored.isSelected(bySending: Origin.fields(presented)) == isSelected)
    }

    @Test func `Only what Vary names is kept of the request`() {
        let stored = Origin.response(["Vary: accept, *"], sent: ["Accept: a", "Accept: b", "Authorization: s"])
        #expect(stored.requestFields == Origin.fields(["Accept: a", "Accept: b"]))
    }

    @Test func `Tags are the members of both fields, each once, within bounds`() {
        let stored = Origin.response([
            "Surrogate-Key: a  b\ta", "Surrogate-Key: c,d", "Cache-Tag: e f , b,, g",
            "Cache-Tag: " + String(repeating: "x", count: 257),
        ])
        #expect(stored.tags == ["a", "b", "c,d", "e f", "g"])
        #expect(stored.tagsLeftOut == [String(repeating: "x", count: 257)])
        #expect(Origin.response([]).tags.isEmpty)
        let many = (0..<200).map(String.init).joined(separator: " ")
        #expect(Origin.response(["Surrogate-Key: \(many)"]).tags == (0..<128).map(String.init))
        #expect(Origin.response(["Surrogate-Key: \(many)"]).tagsLeftOut == (128..<200).map(String.init))
    }
}

struct ValidationTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(
        arguments: [
            ([], []), (["ETag: \"a\""], ["If-None-Match: \"a\""]), (["ETag: W/\"a\""], ["If-None-Match: W/\"a\""]),
            (["Last-Modified: \(date)"], ["If-Modified-Since: \(date)"]),
            (
                ["ETag: \"a\"", "Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT"],
                ["If-None-Match: \"a\"", "If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT"]
            ),
            (["ETag: a"], ["If-None-Match: a"]), (["ETag: a,b"], []), (["ETag: \"a"], []), (["ETag: *"], []),
            (["ETag: \"a\", \"b\""], []),
            (["ETag: \"a\"", "ETag: \"b\""], []), (["ETag: w/\"a\""], []), (["ETag: \"a b\""], []), (["ETag:"], []),
            (["Last-Modified: 1994-11-06"], []),
            (["ETag: x y", "Last-Modified: \(date)"], ["If-Modified-Since: \(date)"]),
        ] as [([String], [String])])
    func `The origin is asked with what it sent, if that is valid`(fields: [String], conditions: [String]) {
        #expect(Origin.response(fields).validators == Origin.fields(conditions))
    }

    @Test func `A tag's bytes are sent as they came, though they are no UTF-8`() throws {
        var stored = Origin.response([])
        stored.fields.append(HTTPField(name: .eTag, value: [0x22, 0xe9, 0x22]))
        let field = try #require(stored.validators.first)
        #expect(field.name == .ifNoneMatch)
        #expect(field.withUnsafeBytesOfValue { Array($0) } == [0x22, 0xe9, 0x22])
    }

    @Test(
        arguments: [
            ("\"a\"", "\"a\"", true), ("\"a\"", "W/\"a\"", true), ("\"a\"", "\"b\"", false), ("\"a\"", nil, true),
            (nil, "\"a\"", true), (nil, nil, true), ("\"a\"", "b", false), ("\"a\"", "a", true),
            ("\"a\"", "b c", true),
        ] as [(String?, String?, Bool)])
    func `A 304 with another tag speaks of another response`(known: String?, told: String?, isConfirmed: Bool) {
        let stored = Origin.response(known.map { ["ETag: \($0)"] } ?? [])
        #expect(stored.isConfirmed(by: Origin.fields(told.map { ["ETag: \($0)"] } ?? [])) == isConfirmed)
    }

    @Test func `A 304 replaces what it names, and leaves the rest`() {
        var stored = Origin.response(
            [
                "ETag: \"a\"", "Cache-Control: max-age=1", "Cache-Control: public", "Content-Type: image/png",
                "Vary: Accept", "Surrogate-Key: k", "Age: 500",
            ], sent: ["Accept: a"])
        stored.staleSince = Origin.now
        let fresh = stored.freshened(
            by: Origin.fields(["Cache-Control: max-age=60", "Set-Cookie: x", "Expires: 0"]),
            sent: Origin.fields(["Accept: b"]), requestedAt: Origin.later(99), receivedAt: Origin.later(100))
        #expect(
            fresh.fields
                == Origin.fields([
                    "ETag: \"a\"", "Content-Type: image/png", "Vary: Accept", "Surrogate-Key: k",
                    "Cache-Control: max-age=60", "Expires: 0",
                ]))
        #expect(fresh.status == 200)
        #expect(fresh.staleSince == nil)
        #expect(fresh.requestFields == Origin.fields(["Accept: b"]))
        let freshness = fresh.freshness(FreshnessPolicy())
        #expect(freshness.remaining(at: Origin.later(100)) == .seconds(59))
    }

    @Test func `A 304's own Age and Date count`() {
        let stored = Origin.response(["Cache-Control: max-age=60", "Age: 59"])
        let fresh = stored.freshened(
            by: Origin.fields(["Age: 10", "Date: \(Origin.date(80))"]), sent: [:], requestedAt: Origin.later(100),
            receivedAt: Origin.later(100))
        #expect(fresh.freshness(FreshnessPolicy()).age(at: Origin.later(100)) == .seconds(20))
    }
}

struct RetryAfterTests {
    @Test(
        arguments: [
            ("120", 120), ("0", 0), (Origin.date(90), 90), (Origin.date(-90), 0), ("99999999999999", 2_147_483_648),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 2_147_483_648), ("-5", nil), ("1.5", nil), ("soon", nil), ("", nil),
            ("1, 2", nil),
        ] as [(String, Int?)])
    func `A delay is a number of seconds or a date`(text: String, seconds: Int?) {
        let delay = Origin.fields(["Retry-After: \(text)"]).retryAfter(now: Origin.now)
        #expect(delay == seconds.map { .seconds($0) })
        #expect(HTTPFields().retryAfter(now: Origin.now) == nil)
    }
}
