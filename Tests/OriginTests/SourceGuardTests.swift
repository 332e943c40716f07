import DarkroomTestOrigin
import NIOCore
import NIOPosix
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

struct SourceGuardTests {
    @Test(arguments: ["127.0.0.1", "::1", "2001:db8::8:800:200c:417a", "::ffff:10.0.0.1"])
    func `Socket addresses carry over`(text: String) throws {
        #expect(IPAddress(try SocketAddress(ipAddress: text, port: 80)) == IPAddress(text))
        #expect(IPAddress(try SocketAddress(unixDomainSocketPath: "/x")) == nil)
    }

    @Test func `A name is resolved once per download, and the connection goes to that answer`() async throws {
        let nameLookup = ScriptedNameLookup(["rebind.test": [["127.0.0.1"], ["10.0.0.1"]]])
        try await withOrigin(nameLookup: nameLookup) { _ in
            [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url(host: "rebind.test"))
            #expect(nameLookup.questions == ["rebind.test"])
            #expect(origin.requests.map { $0.fields["host"] } == ["rebind.test:\(origin.port)"])
            #expect(try await client.failure(of: origin.url(host: "rebind.test")) == .unreachable(.dns))
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `One forbidden address makes the name forbidden`() async throws {
        let nameLookup = ScriptedNameLookup([
            "mixed.test": [["127.0.0.1", "10.0.0.1"]], "six.test": [["127.0.0.1", "::1"]],
        ])
        try await withOrigin(nameLookup: nameLookup) { _ in
            [.respond()]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url(host: "mixed.test")) == .unreachable(.dns))
            #expect(try await client.failure(of: origin.url(host: "six.test")) == .unreachable(.dns))
            #expect(origin.connectionCount == 0)
        }
    }

    @Test func `The next vetted address is tried if one cannot be connected to`() async throws {
        let nameLookup = ScriptedNameLookup(["two.test": [["127.0.0.2", "127.0.0.1"]], "dead.test": [["127.0.0.2"]]])
        let settings = try GuardedHTTPClient.Settings.loopback {
            // Waiting out the connect timeout at an address that refused would end as timed out.
            $0.connectTimeout = .seconds(60)
            $0.downloadTimeout = .seconds(5)
        }
        try await withOrigin(settings, nameLookup: nameLookup) { _ in
            [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url(host: "two.test"))
            #expect(try await client.failure(of: origin.url(host: "dead.test")) == .unreachable(.refused))
        }
    }

    @Test func `International and unusual names are resolved in their canonical spelling`() async throws {
        let nameLookup = ScriptedNameLookup(["xn--bcher-kva.test": [["127.0.0.1"]], "a_b.test.": [["127.0.0.1"]]])
        try await withOrigin(nameLookup: nameLookup) { _ in
            [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url(host: "BÜCHER.test"))
            _ = try await client.fetch(origin.url(host: "a_b.test."))
            #expect(nameLookup.questions == ["xn--bcher-kva.test", "a_b.test."])
        }
    }

    @Test func `A name without addresses is unreachable`() async throws {
        try await withOrigin(nameLookup: ScriptedNameLookup(["empty.test": [[]]])) { _ in
            []
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url(host: "none.test")) == .unreachable(.dns))
            #expect(try await client.failure(of: origin.url(host: "empty.test")) == .unreachable(.dns))
        }
    }

    @Test(
        "host and port are checked before any lookup if that suffices",
        arguments: [
            ("http://listed.test/", [], nil), ("http://listed.test:81/", [], .notAllowed(.port)),
            ("http://other.test/", [], .notAllowed(.host)),
            ("http://listed.test:81/", ["10.0.0.0/8"], .notAllowed(.port)),
            ("http://inside.test:81/", ["10.0.0.0/8"], nil), ("http://inside.test/", [], .unreachable(.dns)),
        ] as [(String, [String], OriginError?)])
    func policies(text: String, networks: [String], expected: OriginError?) async throws {
        let nameLookup = ScriptedNameLookup(["listed.test": [["9.9.9.9"]], "inside.test": [["10.0.0.1"]]])
        let vetting = SourceGuard(
            hosts: HostPolicy(allowHosts: ["listed.*", "inside.*"]),
            addresses: AddressPolicy(allowNetworks: try networks.map { try CIDR(parsing: $0) }), nameLookup: nameLookup)
        let url = try SourceURL(parsing: text)
        do throws(OriginError) {
            _ = try await vetting.vet(url)
            #expect(expected == nil)
        } catch {
            #expect(error == expected)
        }
        #expect(
            nameLookup.questions.isEmpty
                == (expected == .notAllowed(.host) || expected == .notAllowed(.port) && networks.isEmpty))
    }

    @Test func `A connection to an address other than the vetted one is closed before it is used`() async throws {
        try await withOrigin { _ in
            [.respond()]
        } _: { _, origin async throws in
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: origin.port).get()
            try await PinnedTransport.checkPeer(of: channel, is: .v4(0x7f00_0001)).get()
            #expect(channel.isActive)
            await #expect(throws: UnvettedPeer.self) {
                try await PinnedTransport.checkPeer(of: channel, is: .v4(1)).get()
            }
            #expect(!channel.isActive)
        }
    }

    @Test func `Lookups are for the client of the download, also behind redirects`() async throws {
        let nameLookup = ScriptedNameLookup(["first.test": [["127.0.0.1"]], "second.test": [["127.0.0.1"]]])
        try await withOrigin(nameLookup: nameLookup) { request in
            guard request.target == "/" else { return [.respond()] }
            let port = request.fields["host"]?.split(separator: ":").last ?? ""
            return [.redirect(to: "http://second.test:\(port)/there")]
        } _: { client, origin async throws in
            var request = OriginRequest(url: try origin.url(host: "first.test"))
            request.clients = { ["visitor"] }
            _ = try await client.fetch(request)
            #expect(nameLookup.questions == ["first.test", "second.test"])
            #expect(nameLookup.clients == ["visitor", "visitor"])
        }
    }
}
