import DarkroomTestOrigin
import Testing

@testable import DarkroomObjectStorage

@Suite(.timeLimit(.minutes(5)))
struct ContainerEndpointTests {
    @Test func `Tasks of ECS ask the fixed address`() async throws {
        try await withCredentialsEndpoint { _ in
            [.respond(body: credentialsDocument("ECS"))]
        } testing: { endpoint in
            let credentials = try await loadCredentials(
                ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/x?y=1"], container: endpoint)
            #expect(credentials.accessKey == "ECS")
            #expect(credentials.sessionToken == "token")
            let request = try #require(endpoint.requests.first)
            #expect(request.target == "/v2/credentials/x?y=1")
            #expect(request.fields["authorization"] == nil)
        }
    }

    @Test(arguments: [
        ["AWS_CONTAINER_AUTHORIZATION_TOKEN": "in-variable"],
        ["AWS_CONTAINER_AUTHORIZATION_TOKEN": "in-variable", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/token"],
    ])
    func `Pods of EKS send their token`(variables: [String: String]) async throws {
        try await withCredentialsEndpoint { _ in
            [.respond(body: credentialsDocument("EKS"))]
        } testing: { endpoint in
            let uri = "http://localhost:\(endpoint.port)/v1/credentials"
            let environment = variables.merging(["AWS_CONTAINER_CREDENTIALS_FULL_URI": uri]) { $1 }
            let credentials = try await loadCredentials(environment, files: ["/token": "in-file\n"])
            #expect(credentials.accessKey == "EKS")
            let token = endpoint.requests.first?.fields["authorization"]
            #expect(token == (variables.count == 2 ? "in-file" : "in-variable"))
        }
    }

    @Test(arguments: [
        "http://169.254.170.2/a", "http://169.254.170.23/a", "http://[fd00:ec2::23]/a", "http://127.0.0.1:8080/a",
        "http://127.1.2.3/a", "http://[::1]/a", "http://localhost/a", "https://credentials.example/a",
    ])
    func `Platforms and TLS are trusted`(uri: String) throws {
        #expect(try ContainerEndpoint(environment: ["AWS_CONTAINER_CREDENTIALS_FULL_URI": uri], address: "") != nil)
    }

    @Test(arguments: [
        "http://credentials.example/a", "http://169.254.169.254/a", "http://10.0.0.1/a", "http://localhost.example/a",
        "http://[::ffff:127.0.0.1]/a", "http://169.254.170.2.example/a", "http://169.254.170.2@evil.example/a",
    ])
    func `Other endpoints are refused`(uri: String) {
        #expect(throws: CredentialsError.endpointNotAllowed) {
            try ContainerEndpoint(environment: ["AWS_CONTAINER_CREDENTIALS_FULL_URI": uri], address: "")
        }
    }

    @Test(arguments: ["two\nlines", "", "a\r\nx: y", "é"])
    func `Tokens that header fields cannot carry are reported`(token: String) async throws {
        let environment = [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:1/",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/token",
        ]
        await #expect(throws: CredentialsError.unreadable(.container, path: "/token")) {
            try await loadCredentials(environment, files: ["/token": token])
        }
    }

    @Test(arguments: [
        "", "[]", "{}", Reply.page, String(repeating: "[", count: 60_000), String(repeating: " ", count: 70_000),
        #"{"AccessKeyId":"a","SecretAccessKey":"s","Token":"t","Expiration":"soon"}"#,
        #"{"AccessKeyId":"a b","SecretAccessKey":"s","Token":"t","Expiration":"2026-11-22T12:00:00Z"}"#,
    ])
    func `Other documents are malformed`(body: String) async throws {
        try await withCredentialsEndpoint { _ in
            [.respond(body: body)]
        } testing: { endpoint in
            await #expect(throws: CredentialsError.malformed(.container)) {
                try await loadCredentials(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"], container: endpoint)
            }
        }
    }

    @Test func `Redirects are not followed`() async throws {
        try await withCredentialsEndpoint { _ in
            [.redirect(to: "/other")]
        } testing: { endpoint in
            await #expect(throws: CredentialsError.refused(.container, status: 302)) {
                try await loadCredentials(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"], container: endpoint)
            }
            #expect(endpoint.requests.count == 1)
        }
    }
}
