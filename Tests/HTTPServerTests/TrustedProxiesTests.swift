import DarkroomNetwork
import HTTPTypes
import Testing

@testable import DarkroomHTTPServer

struct TrustedProxiesTests {
    private static func proxies() throws -> TrustedProxies {
        TrustedProxies(networks: try ["10.0.0.0/8", "fd00::/8"].map { try CIDR(parsing: $0) })
    }

    private func client(
        of peer: String = "10.0.0.1", forwarded: [String] = [], list: [String] = []
    ) throws -> String {
        var fields = HTTPFields()
        for line in forwarded { fields.append(HTTPField(name: try #require(.init("Forwarded")), value: line)) }
        for line in list { fields.append(HTTPField(name: try #require(.init("X-Forwarded-For")), value: line)) }
        return "\(try Self.proxies().client(of: try #require(IPAddress(peer)), fields))"
    }

    @Test(arguments: [
        (["for=192.0.2.60"], "192.0.2.60"),
        (["For=\"192.0.2.60\";proto=http;by=203.0.113.43"], "192.0.2.60"),
        (["by=203.0.113.43; proto=https ;FOR=192.0.2.60"], "192.0.2.60"),
        (["for=\"192.0.2.60:4711\""], "192.0.2.60"),
        (["for=\"192.0.2.60:_port\""], "192.0.2.60"),
        (["for=\"[2001:DB8:cafe::17]\""], "2001:db8:cafe::17"),
        (["for=\"[2001:db8:cafe::17]:4711\""], "2001:db8:cafe::17"),
        (["for=\"[::ffff:192.0.2.60]\""], "192.0.2.60"),
        (["for=\"192.0.2.\\60\""], "192.0.2.60"),
        (["for=192.0.2.1, for=192.0.2.60"], "192.0.2.60"),
        (["for=192.0.2.1", "for=192.0.2.60"], "192.0.2.60"),
        (["for=192.0.2.60, for=10.1.2.3"], "192.0.2.60"),
        (["for=192.0.2.60,, ,for=10.1.2.3,"], "192.0.2.60"),
        (["for=192.0.2.60", "for=10.1.2.3", "for=\"[fd00::1]:80\""], "192.0.2.60"),
        (["for=10.9.9.9, for=10.1.2.3"], "10.9.9.9"),
        (["for=192.0.2.60;ext=\"a,b;for=1.2.3.4\""], "192.0.2.60"),
        // What ends the walk: the last good one is the client.
        (["for=192.0.2.60, for=unknown"], "10.0.0.1"),
        (["for=192.0.2.60, for=_hidden, for=10.1.2.3"], "10.1.2.3"),
        (["for=192.0.2.60, for=10.1.2.3, for=\"_hidden:80\""], "10.0.0.1"),
        (["for=192.0.2.60, proto=https"], "10.0.0.1"),
        (["for=192.0.2.60, for=10.1.2.3;for=192.0.2.61"], "10.0.0.1"),
        (["for=192.0.2.60, for"], "10.0.0.1"), (["for=192.0.2.60, for="], "10.0.0.1"),
        (["for= 192.0.2.60"], "10.0.0.1"), (["for =192.0.2.60"], "10.0.0.1"),
        (["for=[2001:db8::1]"], "10.0.0.1"), (["for=2001:db8::1"], "10.0.0.1"), (["for=\"2001:db8::1\""], "10.0.0.1"),
        (["for=192.0.2.60:80"], "10.0.0.1"), (["for=\"192.0.2.60:\""], "10.0.0.1"),
        (["for=\"192.0.2.60:123456\""], "10.0.0.1"), (["for=\"192.0.2.60:_\""], "10.0.0.1"),
        (["for=\"[192.0.2.60]\""], "10.0.0.1"), (["for=\"[2001:db8::1]x\""], "10.0.0.1"),
        (["for=192.0.2.060"], "10.0.0.1"), (["for=0x7f000001"], "10.0.0.1"), (["for=example.com"], "10.0.0.1"),
        (["for=\"192.0.2.60"], "10.0.0.1"), (["for=\"192.0.2.60\"x"], "10.0.0.1"), (["for=\"192.0.2.60\\"], "10.0.0.1"),
        ([""], "10.0.0.1"), ([","], "10.0.0.1"),
        // A quote that a client leaves open can't swallow what the proxy adds.
        (["for=192.0.2.1;a=\", for=192.0.2.60"], "10.0.0.1"),
        (["for=192.0.2.1, for=\", for=192.0.2.60;host=\"h\""], "10.0.0.1"),
        (["for=192.0.2.1;a=\"\\, for=\"192.0.2.60\""], "10.0.0.1"),
    ])
    func `Forwarded is read from its end over trusted proxies`(lines: [String], expected: String) throws {
        #expect(try client(forwarded: lines) == expected)
    }

    @Test(arguments: [
        (["192.0.2.60"], "192.0.2.60"), (["192.0.2.60:4711"], "192.0.2.60"), (["2001:db8::17"], "2001:db8::17"),
        (["[2001:db8::17]:4711"], "2001:db8::17"), ([" 192.0.2.60 "], "192.0.2.60"),
        (["192.0.2.1,192.0.2.60"], "192.0.2.60"), (["192.0.2.1", "192.0.2.60, 10.1.2.3"], "192.0.2.60"),
        (["192.0.2.60", "10.1.2.3", "fd00::1"], "192.0.2.60"), (["::ffff:10.1.2.3"], "10.1.2.3"),
        (["192.0.2.60, unknown"], "10.0.0.1"), (["192.0.2.60,"], "10.0.0.1"), (["192.0.2.60 x"], "10.0.0.1"),
        (["192.0.2.60, junk, 10.1.2.3"], "10.1.2.3"), ([""], "10.0.0.1"), (["\"192.0.2.60\""], "10.0.0.1"),
    ])
    func `X-Forwarded-For is read from its end over trusted proxies`(lines: [String], expected: String) throws {
        #expect(try client(list: lines) == expected)
    }

    @Test func `Where both fields are there they must agree`() throws {
        #expect(try client(forwarded: ["for=192.0.2.60"], list: ["192.0.2.60"]) == "192.0.2.60")
        #expect(try client(forwarded: ["for=192.0.2.1"], list: ["192.0.2.60"]) == "10.0.0.1")
        #expect(try client(forwarded: ["for=junk!"], list: ["192.0.2.60"]) == "10.0.0.1")
    }

    @Test(arguments: ["192.0.2.7", "11.0.0.1", "2001:db8::1", "::1"])
    func `From anywhere else no field is believed`(peer: String) throws {
        #expect(try client(of: peer, forwarded: ["for=192.0.2.60"]) == peer)
        #expect(try client(of: peer, list: ["192.0.2.60"]) == peer)
    }

    @Test func `A proxy is known by its IPv4 address on a socket of both families too`() throws {
        #expect(try client(of: "::ffff:10.0.0.1", list: ["192.0.2.60"]) == "192.0.2.60")
        #expect(try client(of: "::ffff:192.0.2.7", list: ["192.0.2.60"]) == "192.0.2.7")
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
    ])
    func `A client is an IPv4 address or an IPv6 network of 64 bits`(address: String, name: String) throws {
        #expect(try #require(IPAddress(address)).clientName == name)
    }

    /// Whatever a client puts before what the proxies add, it is taken for itself or for one of them.
    @Test func `A client can't choose who it is`() throws {
        var numbers = SystemRandomNumberGenerator()
        let pieces = [
            "for=", "192.0.2.1", "10.0.0.1", "10.1.2.3", "\"", "\\", ",", ";", " ", "[", "]", "2001:db8::1", "fd00::1",
            ":80", "unknown",
            "_x", "by=", "=", "\t", "a",
        ]
        let additions = [
            (forwarded: ["for=198.51.100.7"], list: ["198.51.100.7"]),
            (forwarded: ["for=\"198.51.100.7:1234\";by=\"[fd00::9]\""], list: ["198.51.100.7:1234"]),
            (forwarded: ["for=198.51.100.7", "for=10.1.2.3;host=\"a\""], list: ["198.51.100.7", "10.1.2.3"]),
            (forwarded: ["for=198.51.100.7;a=\"x\\\"y\\\"z\";b=\"\""], list: ["198.51.100.7"]),
        ]
        let possible: Set<String> = ["198.51.100.7", "10.0.0.1", "10.1.2.3"]
        for round in 0..<3_000 {
            let made = (0..<Int.random(in: 0...8, using: &numbers)).map { _ in
                pieces.randomElement(using: &numbers) ?? ""
            }.joined()
            let addition = additions[round % additions.count]
            // A proxy adds to the line that there is, or adds a line.
            let joins = Bool.random(using: &numbers)
            let forwarded =
                joins ? [made + ", " + addition.forwarded.joined(separator: ", ")] : [made] + addition.forwarded
            let list = joins ? [made + ", " + addition.list.joined(separator: ", ")] : [made] + addition.list
            #expect(possible.contains(try client(forwarded: forwarded)), "\(forwarded)")
            #expect(possible.contains(try client(list: list)), "\(list)")
            #expect(possible.contains(try client(forwarded: [made], list: list)), "\(made) \(list)")
            #expect(possible.contains(try client(forwarded: forwarded, list: [made])), "\(made) \(forwarded)")
        }
    }
}
