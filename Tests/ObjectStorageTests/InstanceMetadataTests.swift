import DarkroomTestOrigin
import Testing

@testable import DarkroomObjectStorage

@Suite(.timeLimit(.minutes(5)))
struct InstanceMetadataTests {
    @Test func `The role is asked for with a session token`() async throws {
        let script: @Sendable (TestOrigin.Request) -> [TestOrigin.Step] = { request in
            switch (request.method, request.target) {
            case ("PUT", "/latest/api/token"): [.respond(body: "session-token")]
            case ("GET", "/latest/meta-data/iam/security-credentials/"): [.respond(body: "the role\n")]
            case ("GET", "/latest/meta-data/iam/security-credentials/the%20role"):
                [.respond(body: credentialsDocument("EC2"))]
            default: [.respond("404 Not Found")]
            }
        }
        try await withCredentialsEndpoint(script) { service in
            let found = try await loadCredentials([:], instance: service)
            #expect(found.accessKey == "EC2")
            let requests = service.requests
            #expect(requests.first?.fields["x-aws-ec2-metadata-token-ttl-seconds"] == "21600")
            #expect(requests.dropFirst().allSatisfy { $0.fields["x-aws-ec2-metadata-token"] == "session-token" })
            let environment = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(service.port)/"]
            let elsewhere = try await loadCredentials(environment)
            #expect(elsewhere.accessKey == "EC2")
        }
    }

    @Test func `Nothing answers outside of EC2`() async {
        await #expect(throws: CredentialsError.notFound) { try await loadCredentials([:]) }
    }

    @Test func `The first version is not used`() async throws {
        let script: @Sendable (TestOrigin.Request) -> [TestOrigin.Step] = { request in
            request.method == "PUT" ? [.respond("403 Forbidden")] : [.respond(body: "role")]
        }
        try await withCredentialsEndpoint(script) { service in
            await #expect(throws: CredentialsError.refused(.instance, status: 403)) {
                try await loadCredentials([:], instance: service)
            }
            #expect(service.requests.count == 1)
        }
    }

    @Test(arguments: ["..", "", "."])
    func `A role is a name`(role: String) async throws {
        let script: @Sendable (TestOrigin.Request) -> [TestOrigin.Step] = { request in
            [.respond(body: request.method == "PUT" ? "token" : role)]
        }
        try await withCredentialsEndpoint(script) { service in
            await #expect(throws: CredentialsError.malformed(.instance)) {
                try await loadCredentials([:], instance: service)
            }
        }
    }

    @Test func `A service that hangs is unreachable`() async throws {
        try await withCredentialsEndpoint { _ in
            [.stall]
        } testing: { service in
            await #expect(throws: CredentialsError.notFound) { try await loadCredentials([:], instance: service) }
        }
    }
}
