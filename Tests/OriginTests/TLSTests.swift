import DarkroomTestOrigin
import Synchronization
import Testing

@testable import DarkroomOrigin

struct TLSTests {
    private static let nameLookup = ScriptedNameLookup([
        "trusted.test": [["127.0.0.1"]], "other.test": [["127.0.0.1"]], "trusted.test.": [["127.0.0.1"]],
    ])

    private func failures(insecureTLSHosts: [String], hosts: [String]) async throws -> [OriginError?] {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.insecureTLSHosts = insecureTLSHosts }
        let failures = Mutex<[OriginError?]>([])
        try await withOrigin(settings, nameLookup: Self.nameLookup, tls: true) { _ in
            [.respond()]
        } _: { client, origin async throws in
            for host in hosts {
                let failure = try await client.failure(of: origin.url(host: host, scheme: "https"))
                failures.withLock { $0.append(failure) }
            }
        }
        return failures.withLock { $0 }
    }

    @Test func `An untrusted certificate is refused`() async throws {
        let failures = try await failures(insecureTLSHosts: [], hosts: ["trusted.test", "other.test", "127.0.0.1"])
        #expect(failures == Array(repeating: .unreachable(.certificate), count: 3))
    }

    @Test func `Certificates are not verified for the hosts that are named, whatever name they bear`() async throws {
        let hosts = ["trusted.test", "trusted.test.", "127.0.0.1", "other.test"]
        let failures = try await failures(insecureTLSHosts: ["TRUSTED.*", "127.0.0.1"], hosts: hosts)
        #expect(failures == [nil, nil, nil, .unreachable(.certificate)])
    }
}
