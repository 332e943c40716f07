import Testing

@testable import DarkroomNetwork

struct IPAddressTests {
    @Test(
        "addresses print in their one canonical form",
        arguments: [
            ("1.2.3.4", "1.2.3.4"), ("255.255.255.255", "255.255.255.255"), ("::", "::"), ("::1", "::1"),
            ("1::", "1::"),
            ("2001:0DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
            ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"), ("1:0:0:4:5:0:0:0", "1:0:0:4:5::"),
            ("1:2:3:4:5:6::8", "1:2:3:4:5:6:0:8"),
            ("::ffff:1.2.3.4", "::ffff:102:304"), ("64:ff9b::255.255.255.255", "64:ff9b::ffff:ffff"),
        ])
    func printing(text: String, expected: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == expected)
        #expect(IPAddress(expected) == address)
    }

    @Test(
        "what is no address in strict form is nil",
        arguments: [
            "", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "1.2.3.+4", "0x1.2.3.4", "1.2.3.4 ", ":", ":::",
            "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", "::1.2.3", "1.2.3.4::", "::1.2.3.4:1",
            "1:2:3:4:5:6:7:1.2.3.4", "fe80::1%eth0",
            "[::1]", "1:2:3:4:5:6:7::8", ":1::", "1:", "::-1",
        ])
    func malformed(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"), ("0.0.0.0/0", "9.9.9.9", "::"), ("1.2.3.4", "1.2.3.4", "1.2.3.5"),
    ])
    func `Networks contain their addresses and no others`(network: String, inside: String, outside: String) throws {
        let cidr = try CIDR(parsing: network)
        #expect(cidr.contains(try #require(IPAddress(inside))))
        #expect(!cidr.contains(try #require(IPAddress(outside))))
        #expect(try CIDR(parsing: "\(cidr)") == cidr)
    }

    @Test func `Wide and narrow IPv6 networks contain their addresses`() throws {
        let loopback = try #require(IPAddress("::1"))
        #expect(try CIDR(parsing: "::/0").contains(loopback))
        #expect(try CIDR(parsing: "::1/128").contains(loopback))
        #expect(try !CIDR(parsing: "fd00::/8").contains(loopback))
        #expect(try !CIDR(parsing: "::/0").contains(.v4(1)))
    }

    @Test(
        "networks are read strictly",
        arguments: [
            ("10.0.0.1/8", .hostBitsSet("10.0.0.1/8", network: "10.0.0.0/8")),
            ("10.0.0.0/33", .badPrefix("10.0.0.0/33", maximumBits: 32)),
            ("::/129", .badPrefix("::/129", maximumBits: 128)), ("10.0.0.0/", .badPrefix("10.0.0.0/", maximumBits: 32)),
            ("10.0.0.0/+8", .badPrefix("10.0.0.0/+8", maximumBits: 32)), ("10/8", .badAddress("10/8")),
            ("", .badAddress("")),
            ("localhost", .badAddress("localhost")),
        ] as [(String, CIDRError)])
    func badNetworks(text: String, expected: CIDRError) {
        #expect(throws: expected) { try CIDR(parsing: text) }
    }
}
