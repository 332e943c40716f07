import DarkroomTestLogs
import NIOPosix
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

/// What would have to be allowed for a refused source.
struct SourcePermissionTests {
    private func guarding(
        hosts: [String] = [], ports: Set<Int> = [80, 443], networks: [String] = [], mapped: SourceMap = SourceMap(),
        nameLookup: ScriptedNameLookup = ScriptedNameLookup([:]), log: LogRecorder = LogRecorder()
    ) throws -> SourceGuard {
        SourceGuard(
            hosts: HostPolicy(allowHosts: hosts, allowPorts: ports),
            addresses: AddressPolicy(allowNetworks: try networks.map { try CIDR(parsing: $0) }), nameLookup: nameLookup,
            mapped: mapped, logger: log.logger)
    }

    private func text(_ permission: SourcePermission?) -> String {
        permission?.settings.map { "\($0.name)=\($0.value)" }.joined(separator: " ") ?? ""
    }

    @Test(arguments: [
        ("http://localhost:9000/photo.jpg", "allow-networks=127.0.0.0/8,::1/128"),
        ("http://app.localhost./", "allow-networks=127.0.0.0/8,::1/128"),
        ("http://127.0.0.1:9000/", "allow-networks=127.0.0.0/8"), ("http://[::1]/", "allow-networks=::1/128"),
        ("http://10.1.2.3:81/", "allow-networks=10.1.2.3/32"), ("http://[fd00::7]/", "allow-networks=fd00::7/128"),
        ("http://[::ffff:10.1.2.3]/", "allow-networks=10.1.2.3/32"),
        ("http://[64:ff9b::10.1.2.3]/", "allow-networks=64:ff9b::a01:203/128,10.1.2.3/32"),
        ("http://example.com:9000/", "allow-ports=9000"), ("http://9.9.9.9:9000/", "allow-ports=9000"),
        ("http://example.com/", ""), ("http://9.9.9.9/", ""), ("local:///a.jpg", ""),
    ])
    func `A source is refused until what is missing has been allowed`(url: String, expected: String) throws {
        let source = try SourceURL(parsing: url)
        let refusing = try guarding()
        let missing = refusing.missingPermission(for: source)
        #expect(text(missing) == expected)
        guard let missing else { return }
        var allowing = refusing
        allowing.hosts = HostPolicy(allowPorts: [80, 443, missing.port ?? 80])
        allowing.addresses = AddressPolicy(allowNetworks: missing.networks)
        #expect(allowing.missingPermission(for: source) == nil)
        #expect(allowing.refusal(of: source) == nil)
    }

    @Test func `Everything that is missing is named at once`() throws {
        let source = try SourceURL(parsing: "http://localhost:9000/")
        let listed = try guarding(hosts: ["example.com"], networks: ["127.0.0.0/8"])
        #expect(text(listed.missingPermission(for: source)) == "allow-hosts=localhost allow-networks=::1/128")
        let other = try guarding(hosts: ["example.com"])
        #expect(
            text(other.missingPermission(for: try SourceURL(parsing: "http://b.org:81/")))
                == "allow-hosts=b.org allow-ports=81")
    }

    @Test func `The log names what each refused hop lacks`() async throws {
        let log = LogRecorder()
        let nameLookup = ScriptedNameLookup(["inside.test": [["10.1.2.3", "fd00::7"]], "localhost": [["127.0.0.1"]]])
        let vetting = try guarding(nameLookup: nameLookup, log: log)
        let expected = [
            ("http://inside.test/", OriginError.unreachable(.dns), "allow-networks=10.1.2.3/32,fd00::7/128"),
            ("http://localhost/", .notAllowed(.address), "allow-networks=127.0.0.0/8"),
            ("http://example.com:81/", .notAllowed(.port), "allow-ports=81"),
        ]
        for (url, failure, _) in expected {
            let source = try SourceURL(parsing: url)
            await #expect(throws: failure) { try await vetting.vet(source) }
        }
        #expect(log.events.map { $0.metadata["missing"] } == expected.map(\.2))
        #expect(log.events.allSatisfy { $0.message == "a source is not allowed" })
    }

    @Test func `The log names a source that is refused without a request, and secrets stay in the log`() throws {
        let log = LogRecorder()
        var settings = GuardedHTTPClient.Settings()
        try settings.mappedSources.add("inside", "http://10.1.2.3/private/")
        let client = GuardedHTTPClient(
            settings: settings, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: log.logger)
        let mapped = try SourceURL(parsing: "http://10.1.2.3/private/a.jpg")
        #expect(client.refusal(of: mapped) == .notAllowed(.address))
        #expect(log.events.map { $0.metadata["missing"] } == ["allow-networks=10.1.2.3/32"])
        #expect(client.missingPermission(for: mapped) == nil)
        let plain = try SourceURL(parsing: "http://10.1.2.3/public/a.jpg")
        #expect(text(client.missingPermission(for: plain)) == "allow-networks=10.1.2.3/32")
    }
}
