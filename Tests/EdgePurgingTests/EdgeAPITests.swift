import Crypto
import DarkroomHTTPCaching
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomEdgePurging

/// The requests of each vendor's API, and the meaning of its answers.
struct EdgeAPITests {
    private static let now = Date(timeIntervalSince1970: 1_674_087_231)

    private func request(
        _ destination: EdgeDestination, _ purges: [EdgePurge], secret: String = "token-1"
    ) -> EdgeRequest {
        let tags = purges.flatMap(\.tags)
        return destination.api.request(
            destination, EdgeMessage(purges: purges, tags: tags, round: 1, secret: secret, now: Self.now))
    }

    @Test func `Cloudflare is told by tags, with a bearer token`() {
        let sent = request(EdgeDestination(.cloudflare, account: "zone1"), [.stub("s-1"), .stub("h-a.org")])
        #expect(sent.method == "POST")
        #expect(sent.url == "https://api.cloudflare.com/client/v4/zones/zone1/purge_cache")
        #expect(sent.field("Authorization") == "Bearer token-1")
        #expect(sent.body == #"{"tags":["s-1","h-a.org"]}"#)
    }

    @Test func `Fastly is told by surrogate keys, softly if the purge is soft`() {
        let hard = request(EdgeDestination(.fastly, account: "svc"), [.stub("s-1")])
        #expect(hard.url == "https://api.fastly.com/service/svc/purge")
        #expect(hard.field("Fastly-Key") == "token-1")
        #expect(hard.body == #"{"surrogate_keys":["s-1"]}"#)
        #expect(hard.field("fastly-soft-purge") == nil)
        let soft = request(EdgeDestination(.fastly, account: "svc"), [.stub("s-1", soft: true)])
        #expect(soft.field("fastly-soft-purge") == "1")
    }

    @Test func `Bunny gets one tag at a time, and is never told to empty a pull zone`() {
        let bunny = EdgeDestination(.bunny, account: "42")
        let sent = request(bunny, [.stub("s-1")])
        #expect(sent.url == "https://api.bunny.net/pullzone/42/purgeCache")
        #expect(sent.field("AccessKey") == "token-1")
        #expect(sent.body == #"{"CacheTag":"s-1"}"#)
        #expect(bunny.api.maxPurges == 1)
    }

    @Test func `Varnish gets PURGE with keys, or BAN`() {
        let purge = request(EdgeDestination(.varnish, url: "http://edge/"), [.stub("s-1"), .stub("t")], secret: "")
        #expect(purge.method == "PURGE" && purge.url == "http://edge/" && purge.body.isEmpty)
        #expect(purge.fields.map(\.name) == ["xkey-purge"])
        #expect(purge.field("xkey-purge") == "s-1 t")
        let soft = request(EdgeDestination(.varnish, url: "http://edge/"), [.stub("s-1", soft: true)])
        #expect(soft.field("xkey-softpurge") == "s-1" && soft.field("Authorization") == "Bearer token-1")
        let ban = request(EdgeDestination(.varnish, url: "http://edge/", bans: true), [.stub("s-1", soft: true)])
        #expect(ban.method == "BAN" && ban.field("xkey-purge") == "s-1")
    }

    @Test func `nginx gets PURGE of its URL, and a URL that it does not have is a refusal`() {
        let nginx = EdgeDestination(.nginx, url: "http://edge/purge")
        let purge = request(nginx, [.stub("s-1")], secret: "")
        #expect(purge.method == "PURGE" && purge.url == "http://edge/purge" && purge.body.isEmpty)
        #expect(purge.fields.isEmpty)
        #expect(nginx.api.verdict(on: EdgeAnswer(status: 200), now: Self.now) == .told)
        #expect(nginx.api.verdict(on: EdgeAnswer(status: 404), now: Self.now) != .told)
    }

    /// The vector of the specification's reference implementations.
    @Test func `A webhook is signed as Standard Webhooks says`() throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let text = #"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#
        #expect(Webhook.signature(of: text, secret: secret) == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        let purge = EdgePurge.stub("s-1", id: "purge_7", selector: .init(.url, "https://a.org/a.jpg"))
        let sent = request(EdgeDestination(.webhook, url: "https://hooks.example/x"), [purge], secret: secret)
        #expect(sent.method == "POST" && sent.field("webhook-id") == "purge_7_1")
        #expect(sent.field("webhook-timestamp") == "1674087231")
        let signed = "purge_7_1.1674087231.\(sent.body)"
        #expect(sent.field("webhook-signature") == Webhook.signature(of: signed, secret: secret))
        #expect(
            sent.body == #"{"data":{"id":"purge_7","round":1,"selector":"url","soft":false,"tags":["s-1"],"#
                + #""value":"https://a.org/a.jpg","version":1},"timestamp":"1994-11-06T08:49:37Z","#
                + #""type":"darkroom.purge"}"#)
    }

    @Test(arguments: [
        (200, #"{"success":true,"errors":[]}"#, true), (200, #"{"success":false,"errors":[{"code":1107}]}"#, false),
        (200, "<html>", false), (200, "", false),
    ])
    func `Cloudflare confirms only with success`(status: Int, body: String, isTold: Bool) {
        let api = EdgeDestination(.cloudflare, account: "z").api
        let verdict = api.verdict(on: EdgeAnswer(status: status, body: ByteBuffer(string: body)), now: Self.now)
        #expect((verdict == .told) == isTold)
        #expect(api.verdict(on: EdgeAnswer(status: 200, body: nil), now: Self.now) != .told)
    }

    @Test(arguments: EdgeDestination.Vendor.allCases)
    func `Refusals and delays are told apart`(vendor: EdgeDestination.Vendor) {
        let api = EdgeDestination(vendor, account: "a", url: "http://a/").api
        for status in [400, 401, 403, 301] {
            guard case .refused = api.verdict(on: EdgeAnswer(status: status), now: Self.now) else {
                Issue.record("\(status) is no refusal")
                continue
            }
        }
        for status in [408, 429, 500, 503] {
            let answer = EdgeAnswer(status: status, fields: [.retryAfter: "7"])
            let reason = "it answered with status \(status)"
            #expect(api.verdict(on: answer, now: Self.now) == .postponed(for: .seconds(7), reason: reason))
        }
    }

    @Test func `Names have no secrets, and tell edges apart`() {
        let hook = EdgeDestination(.webhook, url: "https://user:pw@hooks.example:8443/T0/B0/secret?key=secret")
        #expect(hook.name == "webhook:hooks.example:8443")
        #expect(EdgeDestination(.fastly, account: "svc").name == "fastly:svc")
        #expect(EdgeDestination(.varnish, url: "http://[::1]:6081/", number: 2).name == "varnish:[::1]:6081#2")
    }

    @Test func `A secret is checked without being repeated`() {
        let hook = EdgeDestination(.webhook, url: "https://a/")
        #expect(hook.flaw(ofSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") == nil)
        for secret in ["", "a b", "whsec_", "whsec_YQ==", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
            let flaw = hook.flaw(ofSecret: secret)
            #expect(flaw != nil && (secret.isEmpty || flaw?.contains(secret) == false || secret == "whsec_"))
        }
        let fastly = EdgeDestination(.fastly, account: "svc")
        #expect(fastly.flaw(ofSecret: "abc") == nil)
        for secret in ["", "a\r\nX: y", "é", String(repeating: "a", count: 5_000)] {
            #expect(fastly.flaw(ofSecret: secret) != nil)
        }
    }
}
