import NIOPosix
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

/// Refusals before any request, without a DNS lookup.
struct RefusalTests {
    private func refusal(
        of url: String, hosts: HostPolicy = HostPolicy(), allowing networks: [String] = []
    ) throws -> OriginError? {
        let addresses = AddressPolicy(allowNetworks: try networks.map { try CIDR(parsing: $0) })
        // A resolver without names, so that asking it would fail.
        let sourceGuard = SourceGuard(hosts: hosts, addresses: addresses, nameLookup: ScriptedNameLookup([:]))
        return sourceGuard.refusal(of: try SourceURL(parsing: url))
    }

    @Test(
        arguments: [
            ("https://example.com/a.jpg", nil), ("https://example.com:8443/a.jpg", .notAllowed(.port)),
            ("http://10.0.0.1/a.jpg", .notAllowed(.address)), ("http://[::1]/a.jpg", .notAllowed(.address)),
            ("http://93.184.216.34/a.jpg", nil), ("http://127.0.0.1/a.jpg", .notAllowed(.address)),
        ] as [(String, OriginError?)])
    func `A literal address and a port are judged at once, a name is not looked up`(
        url: String, expected: OriginError?
    ) throws {
        #expect(try refusal(of: url) == expected)
    }

    @Test func `Allow-lists count`() throws {
        let hosts = HostPolicy(allowHosts: ["*.example.com"])
        #expect(try refusal(of: "https://example.org/", hosts: hosts) == .notAllowed(.host))
        #expect(try refusal(of: "https://a.example.com/", hosts: hosts) == nil)
        #expect(try refusal(of: "http://10.0.0.1:8080/", allowing: ["10.0.0.0/8"]) == nil)
        #expect(try refusal(of: "http://93.184.216.34:8080/", allowing: ["10.0.0.0/8"]) == .notAllowed(.port))
        // Only its addresses could tell.
        #expect(try refusal(of: "http://inside.test:8080/", allowing: ["10.0.0.0/8"]) == nil)
    }

    @Test func `Local files are refused without a root, and paths that could leave it`() throws {
        let rooted = LocalFiles(root: "/nowhere")
        let router = OriginRouter(
            remote: GuardedHTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton), local: rooted)
        #expect(try LocalFiles(root: nil).refusal(of: SourceURL(parsing: "local:///a.jpg")) == .notAllowed(.local))
        #expect(try router.refusal(of: SourceURL(parsing: "local:///a.jpg")) == nil)
        #expect(try router.refusal(of: SourceURL(parsing: "local:///a/%2e%2e/b.jpg")) == .notAllowed(.path))
        #expect(try router.refusal(of: SourceURL(parsing: "http://10.0.0.1/")) == .notAllowed(.address))
    }
}
