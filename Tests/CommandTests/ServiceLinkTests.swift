import Foundation
import Testing

@testable import DarkroomCommand

/// The variables that Kubernetes sets in every pod for Services named `darkroom` or `darkroom-…`.
@Suite(.timeLimit(.minutes(5)))
struct ServiceLinkTests {
    /// What the kubelet sets for a Service (`pkg/kubelet/envvars` of Kubernetes).
    static func links(_ prefix: String, _ url: String, port: Int, proto: String = "TCP") -> [String: String] {
        let host = url.split(separator: "/").last.map { $0.dropLast("\(port)".count + 1) } ?? ""
        let address = host.filter { !"[]".contains($0) }
        return [
            "\(prefix)_SERVICE_HOST": address, "\(prefix)_SERVICE_PORT": "\(port)",
            "\(prefix)_SERVICE_PORT_HTTP": "\(port)", "\(prefix)_PORT": url,
            "\(prefix)_PORT_\(port)_\(proto)": url, "\(prefix)_PORT_\(port)_\(proto)_PROTO": proto.lowercased(),
            "\(prefix)_PORT_\(port)_\(proto)_PORT": "\(port)",
            "\(prefix)_PORT_\(port)_\(proto)_ADDR": address,
        ]
    }

    @Test(arguments: [
        links("DARKROOM", "tcp://10.0.0.1:8080", port: 8080),
        links("DARKROOM_ADMIN", "tcp://10.96.12.7:80", port: 80),
        links("DARKROOM_CANARY_2", "udp://10.0.0.1:53", port: 53, proto: "UDP"),
        links("DARKROOM", "tcp://[fd00:10:96::1]:65535", port: 65_535),
        links("DARKROOM_SERVICE", "sctp://10.0.0.1:9", port: 9, proto: "SCTP"),
        ["DARKROOM_SERVICE_PORT_METRICS_V2": "9090", "DARKROOM_SERVICE_HOST": "fd00::1"],
    ])
    func `The variables of a Service are ignored and listed`(variables: [String: String]) throws {
        let settings = try Settings.reading(environment: variables)
        #expect(settings.summary == (try Settings.reading().summary))
        #expect(settings.serviceLinks == variables.keys.sorted())
    }

    @Test(arguments: [
        ("DARKROOM_PORT", "9080"), ("DARKROOM_ADMIN_PORT", "8081"), ("DARKROOM_HOST", "127.0.0.2"),
        ("DARKROOM_PUBLIC_URL", "http://10.0.0.1:8080"),
    ])
    func `A variable with the value of a setting is that setting`(variable: String, value: String) throws {
        let settings = try Settings.reading(environment: [variable: value])
        #expect(settings.serviceLinks.isEmpty)
        #expect(settings.summary != (try Settings.reading().summary))
    }

    @Test(arguments: [
        ("DARKROOM_PORTS", "tcp://10.0.0.1:8080", "DARKROOM_PORT?"),
        ("DARKROOM_PROT", "8080", "DARKROOM_PORT?"),
        ("DARKROOM_ADMIN_PROT", "8081", "DARKROOM_ADMIN_PORT?"),
        ("DARKROOM_PORT", "tcp//10.0.0.1:8080", "an integer from 0 to 65535, got 'tcp//10.0.0.1:8080'"),
        ("DARKROOM_PORT", "http://10.0.0.1:8080", "an integer from 0 to 65535"),
        ("DARKROOM_PORT", "tcp://10.0.0.1:8080\n", "an integer from 0 to 65535"),
        ("DARKROOM_PORT", "", "an integer from 0 to 65535"),
        ("DARKROOM_HTTP_PORT", "8080", "is not a setting"),
        ("DARKROOM_SERVICE_HOST", "darkroom", "is not a setting"),
        ("DARKROOM_SERVICE_PORT", "http", "is not a setting"),
        ("DARKROOM_PORT_8080", "tcp://10.0.0.1:8080", "is not a setting"),
        ("DARKROOM_PORT_8080_TCP_ADDRESS", "10.0.0.1", "is not a setting"),
        ("DARKROOM_service_host", "10.0.0.1", "is not a setting"),
    ])
    func `A misspelled setting is refused all the same`(variable: String, value: String, words: String) throws {
        var environment = Self.links("DARKROOM", "tcp://10.0.0.1:8080", port: 8080)
        environment[variable] = value
        let sentence = try Settings.refusal(environment: environment)
        #expect(sentence.hasPrefix(variable), "\(sentence)")
        #expect(sentence.contains(words), "\(sentence)")
    }

    @Test func `A server in a pod beside its Service starts on its own port and logs the names once`() async throws {
        let folder = try URL.temporaryFolder()
        let server = try await DarkroomProcess(
            serving: ["--port", "0", "--cache-dir", folder.path],
            environment: Self.links("DARKROOM", "tcp://10.0.0.1:8080", port: 8080))
        #expect(await server.stop() == 0)
        let lines = server.log.split(separator: "\n").filter { $0.contains("Kubernetes") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("DARKROOM_PORT,DARKROOM_PORT_8080_TCP,") == true, "\(lines)")
    }
}
