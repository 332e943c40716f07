import Foundation
import Testing

@testable import DarkroomHTTPCaching

struct FreshnessTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var fields: [String]
        var lifetime: Double
        var basis: Freshness.Basis

        init(_ fields: [String], _ lifetime: Double, _ basis: Freshness.Basis) {
            self.fields = fields
            self.lifetime = lifetime
            self.basis = basis
        }

        var testDescription: String { fields.joined(separator: "; ") }
    }

    @Test(arguments: [
        Row(["Cache-Control: max-age=3600"], 3_600, .maxAge),
        Row(["Cache-Control: max-age=0"], 0, .maxAge),
        Row(["Cache-Control: max-age=10", "Cache-Control: max-age=99"], 10, .maxAge),
        Row(["Cache-Control: max-age=1, s-maxage=3600"], 3_600, .sharedMaxAge),
        Row(["Cache-Control: s-maxage=1", "Cache-Control: max-age=3600"], 1, .sharedMaxAge),
        Row(["Cache-Control: s-maxage=x, max-age=3600"], 0, .invalid),
        Row(["Cache-Control: max-age=3600", "Expires: \(Origin.date(-7200))"], 3_600, .maxAge),
        Row(["Cache-Control: max-age=3600", "Expires: 0"], 3_600, .maxAge),
        Row(["Cache-Control: max-age=0", "Expires: \(Origin.date(3600))"], 0, .maxAge),
        Row(["Cache-Control: max-age=0, s-maxage=60", "Expires: \(Origin.date(-10))"], 60, .sharedMaxAge),
        Row(["Cache-Control: max-age=-5", "Expires: \(Origin.date(3600))"], 0, .invalid),
        Row(["Cache-Control: extension=\"max-age=3600\", max-age=1"], 1, .maxAge),
        Row(["Cache-Control: max-age=60, no-cache"], 0, .noCache),
        Row(["Cache-Control: max-age=60, no-store"], 0, .noStore),
        Row(["Cache-Control: max-age=60, private"], 0, .isPrivate),
        Row(["Cache-Control: max-age=60, no-store, must-understand"], 60, .maxAge),
        Row(["Expires: \(Origin.date(3600))"], 3_600, .expires),
        Row(["Expires: \(Origin.date(0))"], 0, .expires),
        Row(["Expires: \(Origin.date(-3600))"], 0, .expires),
        Row(["Expires: \(Origin.date(60))", "Expires: \(Origin.date(60))"], 60, .expires),
        Row(["Expires: \(Origin.date(60))", "Expires: \(Origin.date(61))"], 0, .invalid),
        Row(["Expires: 0"], 0, .invalid),
        Row(["Expires:"], 0, .invalid),
        Row(["Expires: Thursday, 18-Aug-50 02:01:18 GMT"], 365 * 86_400, .expires),
        Row(["Expires: Thu Aug  8 02:01:18 2050"], 365 * 86_400, .expires),
        Row(["Expires: Sun, 21 Nov 2286 04:46:39 GMT"], 365 * 86_400, .expires),
        Row(["Expires: Thu, 18 Aug 50 02:01:18 GMT"], 0, .invalid),
        Row(["Expires: Thu, 18-Aug-2050 02:01:18 GMT"], 0, .invalid),
        Row(["Expires: Thu, 18 Aug 2050 02:01:18 UTC"], 0, .invalid),
        Row(["Last-Modified: \(Origin.date(-1000))"], 100, .heuristic),
        Row(["Last-Modified: \(Origin.date(-5))"], 0.5, .heuristic),
        Row(["Last-Modified: \(Origin.date(-86_400 * 365))"], 86_400, .heuristic),
        Row(["Last-Modified: \(Origin.date(1000))"], 0, .heuristic),
        Row(["Last-Modified: yesterday"], 3_600, .default),
        Row(["Cache-Control: public", "Last-Modified: \(Origin.date(-1000))"], 100, .heuristic),
        Row([], 3_600, .default),
        Row(["Pragma: no-cache"], 3_600, .default),
        Row(["Cache-Control: max-age=2147483649"], 365 * 86_400, .maxAge),
    ])
    func `The lifetime is what the origin says, in the order of RFC 9111`(row: Row) {
        let freshness = Origin.response(row.fields).freshness(FreshnessPolicy())
        #expect(freshness.lifetime == .seconds(row.lifetime))
        #expect(freshness.basis == row.basis)
    }

    @Test(arguments: [
        Row(["CDN-Cache-Control: max-age=60", "Cache-Control: max-age=1"], 60, .cdnMaxAge),
        Row(["CDN-Cache-Control: max-age=1", "Cache-Control: max-age=60, s-maxage=60"], 1, .cdnMaxAge),
        Row(["CDN-Cache-Control: max-age=60", "Cache-Control: no-store"], 60, .cdnMaxAge),
        Row(["CDN-Cache-Control: max-age=60", "Expires: 0"], 60, .cdnMaxAge),
        Row(["CDN-Cache-Control: max-age=0", "Expires: \(Origin.date(3600))"], 0, .cdnMaxAge),
        Row(["CDN-Cache-Control: max-age=1", "CDN-Cache-Control: max-age=60"], 60, .cdnMaxAge),
        Row(["CDN-Cache-Control: max-age=-1", "Cache-Control: max-age=60"], 0, .invalid),
        Row(["CDN-Cache-Control: no-cache", "Cache-Control: max-age=60"], 0, .noCache),
        Row(["CDN-Cache-Control: private", "Cache-Control: max-age=60"], 0, .isPrivate),
        Row(["CDN-Cache-Control: no-store", "Cache-Control: max-age=60"], 0, .noStore),
        // It says nothing of a lifetime, and still the others are not asked.
        Row(["CDN-Cache-Control: foo", "Cache-Control: max-age=60", "Expires: 0"], 3_600, .default),
        // It is invalid, and so they are.
        Row(["CDN-Cache-Control:", "Cache-Control: max-age=60"], 60, .maxAge),
        Row(["CDN-Cache-Control: max-age=60, &", "Cache-Control: no-store"], 0, .noStore),
        Row(["CDN-Cache-Control: max-age=\"60\"", "Cache-Control: max-age=1"], 1, .maxAge),
        Row(["CDN-Cache-Control: max-age =60", "Expires: \(Origin.date(5))"], 5, .expires),
    ])
    func `CDN-Cache-Control is asked alone, if it is valid`(row: Row) {
        let freshness = Origin.response(row.fields).freshness(FreshnessPolicy())
        #expect(freshness.lifetime == .seconds(row.lifetime))
        #expect(freshness.basis == row.basis)
    }

    @Test func `Expires counts from Date, or from the receipt where that is missing or invalid`() {
        let policy = FreshnessPolicy()
        let expires = "Expires: \(Origin.date(300))"
        #expect(Origin.response([expires], date: -100).freshness(policy).lifetime == .seconds(400))
        #expect(Origin.response([expires], date: 400).freshness(policy).lifetime == .zero)
        #expect(Origin.response([expires], date: nil).freshness(policy).lifetime == .seconds(300))
        #expect(Origin.response([expires, "Date: foo"], date: nil).freshness(policy).lifetime == .seconds(300))
    }

    @Test(arguments: [
        Row(["Cache-Control: max-age=1"], 60, .maxAge),
        Row(["Cache-Control: max-age=x"], 60, .invalid),
        Row(["Expires: 0"], 60, .invalid),
        Row(["Last-Modified: \(Origin.date(-10))"], 60, .heuristic),
        Row(["Cache-Control: max-age=9999"], 600, .maxAge),
        Row([], 600, .default),
        Row(["Cache-Control: no-cache"], 0, .noCache),
        Row(["Cache-Control: no-store"], 0, .noStore),
        Row(["Cache-Control: private"], 0, .isPrivate),
    ])
    func `The operator's floor and cap bound lifetimes, but lift no restriction`(row: Row) {
        let policy = FreshnessPolicy(defaultFresh: .seconds(700), minFresh: .seconds(60), maxFresh: .seconds(600))
        let freshness = Origin.response(row.fields).freshness(policy)
        #expect(freshness.lifetime == .seconds(row.lifetime))
        #expect(freshness.basis == row.basis)
    }

    @Test(arguments: [
        ["Cache-Control: no-store, private, no-cache, must-revalidate"], ["Expires: 0", "Age: 99999"],
        ["CDN-Cache-Control: no-store"], ["Cache-Control: max-age=5, stale-while-revalidate=1, s-maxage=1"],
    ])
    func `An operator may be deaf to the origin's caching fields`(fields: [String]) {
        let policy = FreshnessPolicy(
            defaultFresh: .seconds(50), staleWhileRevalidate: .seconds(7), respectsOrigin: false)
        let stored = Origin.response(fields, date: -1_000)
        let freshness = stored.freshness(policy)
        #expect(stored.mayBeStored(policy))
        #expect(stored.explicitLifetime(policy) == nil)
        #expect(freshness.basis == .fixed)
        #expect(freshness.remaining(at: Origin.now) == .seconds(50))
        #expect(!freshness.needsValidation && !freshness.forbidsStale)
        #expect(freshness.staleWhileRevalidate == .seconds(7))
    }

    @Test(
        arguments: [
            ([], nil), (["Cache-Control: max-age=9"], 9), (["Cache-Control: max-age=9", "Age: 5"], 4),
            (["Cache-Control: no-store"], 0), (["Cache-Control: private, max-age=9"], 0),
            (["Cache-Control: no-store, must-understand, max-age=9"], 0), (["CDN-Cache-Control: no-store"], 0),
            (["CDN-Cache-Control: max-age=99"], 99),
            (["CDN-Cache-Control: max-age=99", "Cache-Control: max-age=9"], 9),
            (["CDN-Cache-Control: max-age=9", "Cache-Control: max-age=99"], 9),
            (["CDN-Cache-Control: max-age=99", "Cache-Control: no-store"], 0),
            (["CDN-Cache-Control: max-age=99", "Expires: \(Origin.date(-9))"], 0),
        ] as [([String], Int?)])
    func `Clients keep a failure no longer than what concerns them allows`(fields: [String], seconds: Int?) {
        let response = Origin.response(fields, status: 404)
        #expect(response.clientLifetime(FreshnessPolicy()) == seconds.map { .seconds($0) })
        let deaf = FreshnessPolicy(respectsOrigin: false)
        #expect(response.clientLifetime(deaf) == nil)
    }

    @Test func `Failures get only what their origin states`() {
        let policy = FreshnessPolicy()
        func lifetime(_ fields: [String]) -> Duration? {
            Origin.response(fields, status: 404).explicitLifetime(policy)
        }
        #expect(lifetime([]) == nil)
        #expect(lifetime(["Last-Modified: \(Origin.date(-86_400))"]) == nil)
        #expect(lifetime(["Cache-Control: max-age=9"]) == .seconds(9))
        #expect(lifetime(["Cache-Control: max-age=9", "Age: 5"]) == .seconds(4))
        #expect(lifetime(["Cache-Control: max-age=9", "Age: 50"]) == .zero)
        #expect(lifetime(["Expires: \(Origin.date(9))"]) == .seconds(9))
        #expect(lifetime(["Expires: never"]) == .zero)
        for word in ["no-store", "private", "no-cache"] {
            #expect(lifetime(["Cache-Control: max-age=9, \(word)"]) == .zero)
        }
    }

    @Test(arguments: [201, 202, 226, 299])
    func `A success that is not 200 or 203 is fresh only as long as its origin states`(status: Int) {
        let patient = FreshnessPolicy(defaultFresh: .seconds(99), minFresh: .seconds(9))
        for fields in [[], ["Last-Modified: \(Origin.date(-1000))"], ["Cache-Control: public"]] {
            let freshness = Origin.response(fields, status: status).freshness(patient)
            #expect(freshness.lifetime == .zero && freshness.basis == .status)
        }
        let stated = Origin.response(["Cache-Control: max-age=60"], status: status).freshness(patient)
        #expect(stated.lifetime == .seconds(60) && stated.basis == .maxAge)
        let ignored = FreshnessPolicy(defaultFresh: .seconds(99), respectsOrigin: false)
        #expect(Origin.response([], status: status).freshness(ignored).lifetime == .seconds(99))
        #expect(Origin.response([], status: 203).freshness(patient).lifetime == .seconds(99))
    }

    @Test func `Each basis says where it is from, or is the operator's`() {
        for basis in Freshness.Basis.allCases {
            #expect((basis.section == nil) == (basis == .default || basis == .fixed))
        }
    }
}
