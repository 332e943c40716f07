import Foundation
import Testing

@testable import DarkroomHTTPCaching

struct ClientCachePolicyTests {
    private func control(
        _ fields: [String], age: Int = 0, sentAge: Int? = nil, asked: Int? = nil,
        cap: Int = 1_000_000, policy: FreshnessPolicy = FreshnessPolicy()
    ) -> String {
        ClientCachePolicy(Origin.response(fields), policy: policy).cacheControl(
            age: .seconds(age), sentAge: sentAge.map { .seconds($0) }, asked: asked.map { .seconds($0) },
            cap: .seconds(cap)
        ).description
    }

    @Test(
        arguments: [
            (["Cache-Control: max-age=60"], "public, max-age=60"),
            (["Cache-Control: max-age=60", "Expires: 0"], "public, max-age=60"),
            (["Expires: \(Origin.date(60))"], "public, max-age=60"),
            (["Expires: 0"], "public, max-age=0"),
            (["Last-Modified: \(Origin.date(-600))"], "public, max-age=60"),
            ([], "public, max-age=3600"),
            (["Cache-Control: max-age=nonsense"], "public, max-age=0"),
            (["Cache-Control: max-age=60, s-maxage=90"], "public, max-age=60, s-maxage=90"),
            (["Cache-Control: max-age=60, s-maxage=60"], "public, max-age=60"),
            // Nothing is said to clients' own caches, and the guess is no longer than what is said to ours.
            (["Cache-Control: s-maxage=60"], "public, max-age=60"),
            (["CDN-Cache-Control: max-age=60"], "public, max-age=60"),
            (["CDN-Cache-Control: max-age=60", "Cache-Control: max-age=5"], "public, max-age=5"),
            (["CDN-Cache-Control: max-age=5", "Cache-Control: max-age=60"], "public, max-age=60"),
            (["CDN-Cache-Control: max-age=60", "Cache-Control: no-store"], "no-store"),
            (["CDN-Cache-Control: no-store", "Cache-Control: max-age=60"], "private, max-age=60"),
            (["CDN-Cache-Control: private", "Cache-Control: max-age=60, s-maxage=90"], "private, max-age=60"),
            (["Cache-Control: no-store, max-age=60, must-understand"], "no-store"),
            (["Cache-Control: private, max-age=60, s-maxage=90"], "private, max-age=60"),
            (["Cache-Control: no-cache, max-age=60"], "public, no-cache"),
            (["Cache-Control: private, no-cache"], "private, no-cache"),
            (["Vary: *", "Cache-Control: max-age=60"], "public, no-cache"),
            (
                [
                    "Cache-Control: max-age=60, must-revalidate, proxy-revalidate, immutable, "
                        + "stale-while-revalidate=5, stale-if-error=6"
                ],
                "public, max-age=60, must-revalidate, proxy-revalidate, immutable, stale-while-revalidate=5, "
                    + "stale-if-error=6"
            ),
        ] as [([String], String)])
    func `Clients receive what the origin states for any cache`(fields: [String], text: String) {
        #expect(control(fields) == text)
    }

    @Test func `The lifetime is counted from the original's making, as Age is`() {
        #expect(control(["Cache-Control: max-age=60"], age: 50) == "public, max-age=60")
        #expect(control(["Cache-Control: max-age=60"], age: 500) == "public, max-age=60")
    }

    @Test(arguments: [(5, 15), (500, 60), (0, 10)])
    func `Who asks for a time shortens what is left, and never lengthens it`(asked: Int, maxAge: Int) {
        let text = control(["Cache-Control: max-age=60"], age: 10, asked: asked)
        #expect(text == "public, max-age=\(maxAge)")
    }

    @Test func `The operator's cap limits the remaining lifetime, whatever was asked for`() {
        #expect(control(["Cache-Control: max-age=60"], age: 10, cap: 20) == "public, max-age=30")
        let text = control(["Cache-Control: max-age=60"], age: 10, asked: 500, cap: 20)
        #expect(text == "public, max-age=30")
        #expect(control(["Cache-Control: max-age=60, s-maxage=90"], age: 10, cap: 20) == "public, max-age=30")
        #expect(control(["Cache-Control: max-age=60, s-maxage=90"], cap: 70) == "public, max-age=60, s-maxage=70")
    }

    @Test func `Without an age, the lifetime is what is left`() {
        let fields = ["Cache-Control: max-age=60, s-maxage=90"]
        #expect(control(fields, age: 50, sentAge: 0) == "public, max-age=10, s-maxage=40")
        #expect(control(fields, age: 50, sentAge: 0, cap: 20) == "public, max-age=10, s-maxage=20")
        #expect(control(fields, age: 70, sentAge: 0, cap: 20) == "public, max-age=0, s-maxage=20")
        #expect(control(fields, age: 500, sentAge: 0) == "public, max-age=0, s-maxage=0")
    }

    @Test func `Asking does not lift a restriction`() {
        #expect(control(["Cache-Control: no-store"], asked: 60) == "no-store")
        #expect(control(["Cache-Control: no-cache"], asked: 60) == "public, no-cache")
        #expect(control(["Cache-Control: private"], asked: 60) == "private, max-age=0")
    }

    @Test func `The operator's bounds on lifetimes hold for clients too, and so does being deaf to origins`() {
        let policy = FreshnessPolicy(defaultFresh: .seconds(50), minFresh: .seconds(20), maxFresh: .seconds(40))
        #expect(control(["Cache-Control: max-age=1"], policy: policy) == "public, max-age=20")
        #expect(control(["Cache-Control: max-age=99"], policy: policy) == "public, max-age=40")
        #expect(control([], policy: policy) == "public, max-age=40")
        let deaf = FreshnessPolicy(defaultFresh: .seconds(50), respectsOrigin: false)
        #expect(control(["Cache-Control: no-store, must-revalidate"], policy: deaf) == "public, max-age=50")
    }

    @Test func `No client is left more time than we have ourselves, where the origin says nothing to clients`() {
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<1_000 {
            let fields = [
                "Last-Modified: \(Origin.date(-Int.random(in: 0...99_999, using: &numbers)))",
                ["Cache-Control: s-maxage=", "CDN-Cache-Control: max-age=", "X: "].randomElement(using: &numbers)
                    .map { $0 + String(Int.random(in: 0...5_000, using: &numbers)) } ?? "",
            ]
            let stored = Origin.response(fields)
            let age = Duration.seconds(Int.random(in: 0...5_000, using: &numbers))
            let control = ClientCachePolicy(stored, policy: FreshnessPolicy()).cacheControl(
                age: age, asked: nil, cap: .seconds(99_999))
            guard case .public(let maxAge) = control.storage else {
                Issue.record("\(control) is for nobody")
                continue
            }
            #expect(maxAge <= stored.freshness(FreshnessPolicy()).lifetime)
        }
    }
}

struct CacheControlTests {
    @Test(arguments: [
        (CacheControl(.public(maxAge: .seconds(86_400))), "public, max-age=86400"),
        (CacheControl(.public(maxAge: .milliseconds(1_999))), "public, max-age=1"),
        (CacheControl(.public(maxAge: .seconds(-5))), "public, max-age=0"),
        (CacheControl(.public(maxAge: .seconds(Int64(1) << 40))), "public, max-age=2147483647"),
        (CacheControl(.private(maxAge: .seconds(5))), "private, max-age=5"),
        (CacheControl.noStore, "no-store"),
    ])
    func `Freshness is given in whole seconds`(control: CacheControl, text: String) {
        #expect(control.description == text)
    }
}
