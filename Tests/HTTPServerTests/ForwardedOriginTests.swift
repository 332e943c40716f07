import DarkroomNetwork
import NIOHTTP1
import Testing

@testable import DarkroomHTTPServer

/// Scheme and host as a proxy in front states them.
struct ForwardedOriginTests {
    private func origin(_ fields: [(String, String)], from peer: String = "10.0.0.1") throws -> String? {
        let proxies = TrustedProxies(networks: [try CIDR(parsing: "10.0.0.0/8")])
        let head = RequestHead(
            HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: HTTPHeaders(fields)),
            from: RequestHead.Peer(try #require(IPAddress(peer)), proxies))
        return head.forwardedOrigin.map { "\($0.scheme ?? "-") \($0.host ?? "-")" }
    }

    @Test(
        arguments: [
            ([("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "a.example:8443")], "https a.example:8443"),
            ([("X-Forwarded-Proto", "HTTPS")], "https -"), ([("X-Forwarded-Host", "[::1]:80")], "- [::1]:80"),
            ([("Forwarded", "for=192.0.2.1;proto=https;host=\"a.example:1\"")], "https a.example:1"),
            // The last element is the proxy's own; the client may have sent the others.
            ([("Forwarded", "proto=http;host=evil.example, proto=https;host=a.example")], "https a.example"),
            (
                [("X-Forwarded-Host", "evil.example, a.example"), ("X-Forwarded-Proto", "http, https")],
                "https a.example"
            ),
            ([("Forwarded", "proto=https;host=a.example"), ("X-Forwarded-Host", "a.example")], "https a.example"),
            ([("Forwarded", "host=a.example"), ("X-Forwarded-Host", "evil.example")], nil),
            ([("Forwarded", "proto=https"), ("X-Forwarded-Proto", "http")], nil),
            ([("X-Forwarded-Proto", "javascript"), ("X-Forwarded-Host", "a/b")], nil),
            ([("X-Forwarded-Host", "a@b")], nil), ([("Forwarded", "host=\"a")], nil), ([], nil),
        ] as [([(String, String)], String?)])
    func `The last proxy states scheme and host, without contradiction`(
        fields: [(String, String)], expected: String?
    ) throws {
        #expect(try origin(fields) == expected)
        #expect(try origin(fields, from: "192.0.2.1") == nil)
    }
}

/// Clients on the server's machine, who may learn which setting would help.
struct LocalClientTests {
    private func isLocal(_ fields: [(String, String)], isOnLoopback: Bool = true) throws -> Bool {
        let peer = RequestHead.Peer(
            try #require(IPAddress("127.0.0.1")), TrustedProxies(), isOnLoopback: isOnLoopback)
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: HTTPHeaders(fields))
        return RequestHead(head, from: peer).isLocal
    }

    @Test(arguments: ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:80"])
    func `A client is local by the listener and its name for the server`(host: String) throws {
        #expect(try isLocal([("Host", host)]))
        #expect(try !isLocal([("Host", host)], isOnLoopback: false))
    }

    @Test(arguments: ["images.example", "images.example:8080", "192.0.2.1", "a b"])
    func `A client that has another name for the server may be behind a proxy`(host: String) throws {
        #expect(try !isLocal([("Host", host)]))
    }

    @Test(arguments: ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via"])
    func `A client behind a proxy is not local`(field: String) throws {
        #expect(try !isLocal([("Host", "localhost"), (field, "x")]))
    }
}
