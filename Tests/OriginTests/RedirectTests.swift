import DarkroomTestOrigin
import HTTPTypes
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

struct RedirectTests {
    @Test(
        "an origin may send us to the web only",
        arguments: [
            ("https://a/", "https://b/", nil), ("http://a/", "https://b/", nil), ("http://a/", "http://b/", nil),
            ("https://a/", "/b", nil), ("https://a/", "http://a/", nil), ("http://a/", nil, .missingLocation),
            ("http://a/", "", .missingLocation), ("http://a/", " \t", .missingLocation),
            ("http://a/", "local:///b", .invalidLocation), ("http://a/", "gopher://b", .invalidLocation),
        ] as [(String, String?, OriginError.RedirectFault?)])
    func redirectTarget(from: String, location: String?, fault: OriginError.RedirectFault?) throws {
        let base = try SourceURL(parsing: from)
        do throws(OriginError) {
            _ = try base.redirectTarget(location)
            #expect(fault == nil)
        } catch {
            #expect(error == fault.map { .badRedirect($0) })
        }
    }

    @Test(arguments: ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
    func `Redirects are followed to the final URL`(status: String) async throws {
        try await withOrigin {
            $0.target == "/a/b" ? [.redirect(status, to: "../c?d#e")] : [.respond()]
        } _: { client, origin async throws in
            let response = try await client.fetch(origin.url("/a/b"))
            #expect(try response.url == origin.url("/c?d"))
            #expect(origin.requests.map(\.target) == ["/a/b", "/c?d"])
        }
    }

    @Test func `As many redirects as allowed are followed, and no more`() async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.maxRedirects = 2 }
        try await withOrigin(settings) { request in
            request.target == "/3" ? [.respond()] : [.redirect(to: "/\((Int(request.target.dropFirst()) ?? 0) + 1)")]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url("/1"))
            #expect(try await client.failure(of: origin.url("/0")) == .tooManyRedirects(limit: 2))
            #expect(origin.requests.map(\.target) == ["/1", "/2", "/3", "/0", "/1", "/2"])
        }
    }

    @Test func `A circle of redirects ends`() async throws {
        try await withOrigin { _ in
            [.redirect(to: "/")]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .tooManyRedirects(limit: 10))
            #expect(origin.requests.count == 11)
        }
    }

    @Test(
        "redirects that cannot or must not be followed are refused",
        arguments: [
            ("http://10.0.0.1/", .notAllowed(.address)), ("http://169.254.169.254/latest/", .notAllowed(.address)),
            ("http://[::ffff:10.0.0.1]/", .notAllowed(.address)), ("//0x0a000001/", .notAllowed(.address)),
            ("http://93.184.215.14:22/", .notAllowed(.port)), ("http://private.test/", .unreachable(.dns)),
            ("file:///etc/passwd", .badRedirect(.invalidLocation)),
            ("local:///etc/passwd", .badRedirect(.invalidLocation)),
            ("http://a b/", .badRedirect(.invalidLocation)),
        ] as [(String, OriginError)])
    func refused(location: String, expected: OriginError) async throws {
        let nameLookup = ScriptedNameLookup(["private.test": [["192.168.0.1"]]])
        try await withOrigin(nameLookup: nameLookup) { _ in
            [.redirect(to: location)]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == expected)
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `A redirect without a location is refused`() async throws {
        try await withOrigin {
            $0.target == "/" ? [.respond("302 Found")] : [.redirect(to: "")]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .badRedirect(.missingLocation))
            #expect(try await client.failure(of: origin.url("/empty")) == .badRedirect(.missingLocation))
            #expect(origin.requests.count == 2)
        }
    }

    @Test func `A redirect to a host that is not listed is refused`() async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.hosts = HostPolicy(allowHosts: ["127.0.0.1"]) }
        let nameLookup = ScriptedNameLookup(["other.test": [["127.0.0.1"]]])
        try await withOrigin(settings, nameLookup: nameLookup) { _ in
            [.redirect(to: "http://other.test/")]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .notAllowed(.host))
            #expect(nameLookup.questions.isEmpty)
        }
    }

    @Test func `Extra fields stay with the origin they were meant for`() async throws {
        let nameLookup = ScriptedNameLookup(["other.test": [["127.0.0.1"]]])
        try await withOrigin(nameLookup: nameLookup) { request in
            switch request.target {
            case "/same": [.redirect(to: "/away")]
            case "/away":
                [.redirect(to: "http://other.test:\(request.fields["host"]?.split(separator: ":").last ?? "")/end")]
            default: [.respond()]
            }
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url("/same"), headers: [.authorization: "secret"])
            #expect(origin.requests.map { $0.fields["authorization"] } == ["secret", "secret", nil])
        }
    }

    @Test func `A redirect from https to http is followed without the operator's fields`() async throws {
        let plain = TestOrigin { _ in [.respond()] }
        try await plain.start()
        let target = try plain.url("/plain").canonical
        let settings = try GuardedHTTPClient.Settings.loopback {
            $0.insecureTLSHosts = ["*"]
            $0.fields = OriginFields([OriginFields.Rule(host: "127.0.0.1", fields: [.authorization: "secret"])])
        }
        try await withOrigin(settings, tls: true) { _ in
            [.redirect(to: target)]
        } _: { client, origin async throws in
            let url = try origin.url(scheme: "https")
            #expect(await client.failure(of: url) == nil)
            #expect(origin.requests.first?.fields["authorization"] == "secret")
            #expect(plain.requests.map(\.target) == ["/plain"])
            #expect(plain.requests.first?.fields["authorization"] == nil)
        }
        try await plain.stop()
    }

    @Test func `Cookies that redirects set are sent back to the same origin, and forgotten`() async throws {
        let nameLookup = ScriptedNameLookup(["other.test": [["127.0.0.1"]]])
        try await withOrigin(nameLookup: nameLookup) { request in
            let cookie = request.fields["cookie"]
            let port = request.fields["host"]?.split(separator: ":").last ?? ""
            return switch request.target {
            case "/start" where cookie == nil:
                [.respond("302 Found", fields: ["Set-Cookie: a=1; Path=/", "Set-Cookie: b=2", "Location: /start"])]
            case "/start": [.redirect(to: "http://other.test:\(port)/away")]
            case "/away": [.redirect(to: "http://127.0.0.1:\(port)/end")]
            default: [.respond()]
            }
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url("/start"))
            #expect(origin.requests.map { $0.fields["cookie"] } == [nil, "a=1; b=2", nil, "a=1; b=2"])
            _ = try await client.fetch(origin.url("/end"))
            #expect(origin.requests.last?.fields["cookie"] == nil)
        }
    }
}

struct RedirectCookiesTests {
    @Test(
        arguments: [
            (["a=1"], "a=1"), (["a=1", "a=2"], "a=2"), (["a=1; Secure; HttpOnly", " b = x y "], "a=1; b=x y"),
            (["a"], nil), (["=1"], nil), ([""], nil), (["a="], "a="), (["a=1", "a=; Max-Age=0"], nil),
            (["a=" + String(repeating: "x", count: 5_000)], nil),
        ] as [([String], String?)])
    func `Each name has its last value, within limits`(lines: [String], value: String?) {
        var cookies = RedirectCookies()
        cookies.store(lines, from: "http://a")
        #expect(cookies.value(for: "http://a") == value)
        #expect(cookies.value(for: "http://b") == nil)
    }

    @Test func `A thousand cookies are twenty`() {
        var cookies = RedirectCookies()
        for origin in ["http://a", "http://b"] {
            cookies.store((0..<1_000).map { "a\($0)=1" }, from: origin)
        }
        #expect(cookies.value(for: "http://a")?.split(separator: ";").count == 20)
        #expect(cookies.value(for: "http://b") == nil)
    }
}
