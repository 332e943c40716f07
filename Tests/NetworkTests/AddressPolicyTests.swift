import Testing

@testable import DarkroomNetwork

struct AddressPolicyTests {
    @Test(
        "special-purpose networks end exactly where the registries say",
        arguments: [
            // network's first and last address, the public neighbor below and above (nil: none, or special itself)
            ("0.0.0.0", "0.255.255.255", nil, "1.0.0.0"), ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
            ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
            ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
            ("168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"),
            ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
            ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
            ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
            ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
            ("192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0"),
            ("192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0"),
            ("192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"),
            ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
            ("192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0"),
            ("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
            ("198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"),
            ("203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"),
            ("224.0.0.0", "255.255.255.255", "223.255.255.255", nil),
            ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nil, nil),
            ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nil, nil),
            ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff:ffff::", "2001:200::"),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff:ffff::", "2003::"),
            ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:7fff:ffff::", "2620:4f:8001::"),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff:ffff::", "3fff:1000::"),
        ] as [(String, String, String?, String?)])
    func edges(first: String, last: String, below: String?, above: String?) throws {
        for special in [first, last] { #expect(!permits(special), "\(special)") }
        for neighbor in [below, above].compactMap(\.self) { #expect(permits(neighbor), "\(neighbor)") }
    }

    @Test(
        "no special-purpose IPv6 block is public",
        arguments: [
            "::1", "64:ff9b:1::1", "100::1", "100:0:0:1::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1",
            "fec0::1", "ff02::1",
            "2001::1", "2001:1::1", "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1",
        ])
    func specialIPv6(text: String) {
        #expect(!permits(text))
    }

    @Test(
        "IPv4 in IPv6 is read out of every form",
        arguments: [
            ("::7f00:1", ["127.0.0.1"]), ("::ffff:10.0.0.1", ["10.0.0.1"]), ("::ffff:0:10.0.0.1", ["10.0.0.1"]),
            ("64:ff9b::10.0.0.1", ["10.0.0.1"]), ("64:ff9b:1::10.0.0.1", ["10.0.0.1", "0.0.0.0"]),
            ("64:ff9b:1:a00:0:100::", ["0.0.0.0", "10.0.0.1"]), ("2002:a00:1::", ["10.0.0.1"]),
            ("2001:0:a00:1:0:0:f5ff:fffd", ["10.0.0.1", "10.0.0.2"]), ("2a00::5efe:10.0.0.1", ["10.0.0.1"]),
            ("2a00::200:5efe:10.0.0.1", ["10.0.0.1"]), ("fe80::5efe:10.0.0.1", ["10.0.0.1"]),
            ("::", []), ("::1", []), ("2a00::1", []), ("10.0.0.1", []), ("::1:0:0", []), ("64:ff9b::1:0:0", []),
        ])
    func embedded(text: String, inner: [String]) throws {
        let address = try #require(IPAddress(text))
        #expect(address.embeddedIPv4.map(\.description) == inner)
    }

    @Test func `An ISATAP address in public space is judged by the address inside`() {
        #expect(!permits("2a00::5efe:10.0.0.1"))
        #expect(permits("2a00::5efe:9.9.9.9"))
    }

    @Test(
        "named networks are exempt, and other forms of them only as far as they mean the same host",
        arguments: [
            ("127.0.0.1", true), ("::ffff:127.0.0.1", true), ("::7f00:1", false), ("2002:7f00:1::", false),
            ("64:ff9b::127.0.0.1", false),
            ("10.0.0.1", false), ("::ffff:10.0.0.1", false), ("::1", true), ("fd00::1", true),
            ("fd00::5efe:10.0.0.1", false),
            ("fd00::5efe:127.0.0.1", true), ("9.9.9.9", true),
        ])
    func exceptions(text: String, permitted: Bool) throws {
        let policy = AddressPolicy(
            allowNetworks: try ["127.0.0.0/8", "::1/128", "fd00::/8"].map { try CIDR(parsing: $0) })
        #expect(policy.permits(try #require(IPAddress(text))) == permitted)
    }

    @Test func `An allowed translation prefix opens no forbidden inner address`() throws {
        let policy = AddressPolicy(allowNetworks: [try CIDR(parsing: "64:ff9b::/96")])
        #expect(policy.permits(try #require(IPAddress("64:ff9b::9.9.9.9"))))
        #expect(!policy.permits(try #require(IPAddress("64:ff9b::10.0.0.1"))))
        let everything = AddressPolicy(allowNetworks: [try CIDR(parsing: "::/0")])
        #expect(!everything.permits(try #require(IPAddress("::ffff:10.0.0.1"))))
    }

    private func permits(_ text: String) -> Bool {
        IPAddress(text).map { AddressPolicy().permits($0) } ?? false
    }
}

struct HostPolicyTests {
    @Test(
        "host patterns match whole names",
        arguments: [
            ("*.example.com", "a.example.com", true), ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "aexample.com", false), ("*.example.com", "a.example.com.evil.org", false),
            ("example.com", "EXAMPLE.com", true),
            ("EXAMPLE.com", "example.com.", true), ("cdn?.x.org", "cdn1.x.org", true),
            ("cdn?.x.org", "cdn.x.org", false),
            ("cdn?.x.org", "cdn12.x.org", false), ("*", "anything", true), ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbX", false),
            ("127.*", "127.0.0.1", true), ("::1", "[::1]", true), ("xn--*.de", "bücher.de", true),
        ])
    func patterns(pattern: String, host: String, matches: Bool) throws {
        let policy = HostPolicy(allowHosts: [pattern])
        let url = try SourceURL(parsing: "http://\(host)/")
        #expect(policy.permits(host: try #require(url.host)) == matches)
    }

    @Test func `Without patterns any host may be asked`() {
        #expect(HostPolicy().permits(host: .name("example.com")))
        #expect(!HostPolicy(allowHosts: ["a", "b"]).permits(host: .name("c")))
    }

    @Test func `A pattern of many stars costs no time`() {
        let policy = HostPolicy(allowHosts: [String(repeating: "*a", count: 100) + "b"])
        #expect(!policy.permits(host: .name(String(repeating: "a", count: 4000))))
    }
}
