import DarkroomTestOrigin
import Foundation
import NIOCore
import Testing

@testable import DarkroomObjectStorage

@Suite(.timeLimit(.minutes(5)))
struct WebIdentityTests {
    private let environment = [
        "AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn:aws:iam::1:role/r",
        "AWS_ROLE_SESSION_NAME": "pod",
    ]
    private static let answer = """
        <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
          <AssumeRoleWithWebIdentityResult>
            <Credentials><SessionToken>st</SessionToken><SecretAccessKey>ss</SecretAccessKey>
            <Expiration>2026-11-22T12:00:00Z</Expiration><AccessKeyId>STS</AccessKeyId></Credentials>
          </AssumeRoleWithWebIdentityResult>
        </AssumeRoleWithWebIdentityResponse>
        """

    @Test func `The token is exchanged for credentials`() async throws {
        try await withCredentialsEndpoint { _ in
            [.respond(body: Self.answer)]
        } testing: { service in
            let credentials = try await loadCredentials(
                environment.merging(["AWS_ENDPOINT_URL_STS": "http://127.0.0.1:\(service.port)"]) { $1 },
                files: ["/token": "the.to+ken\n"])
            #expect(credentials.accessKey == "STS")
            #expect(credentials.sessionToken == "st")
            #expect(credentials.expiration == Date(timeIntervalSince1970: 1_795_348_800))
            let request = try #require(service.requests.first)
            #expect(request.method == "POST")
            #expect(
                String(buffer: request.body)
                    == "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=pod"
                    + "&Version=2011-06-15&WebIdentityToken=the.to%2Bken")
        }
    }

    @Test(arguments: [
        (nil, "https://sts.amazonaws.com/"), ("eu-west-1", "https://sts.eu-west-1.amazonaws.com/"),
        ("cn-north-1", "https://sts.cn-north-1.amazonaws.com.cn/"),
    ])
    func `Each region has its service`(region: String?, url: String) throws {
        let environment = environment.merging(region.map { ["AWS_REGION": $0] } ?? [:]) { $1 }
        #expect(try WebIdentity(environment: environment)?.service == url)
    }

    @Test(arguments: [
        (["AWS_ROLE_ARN": ""], CredentialsError.incomplete(.webIdentity)),
        (["AWS_WEB_IDENTITY_TOKEN_FILE": "/missing"], .unreadable(.webIdentity, path: "/missing")),
        (["AWS_REGION": "evil.example/"], .malformed(.webIdentity)),
        (["AWS_ENDPOINT_URL_STS": "local:///a"], .malformed(.webIdentity)),
        (["AWS_ENDPOINT_URL_STS": "http://127.0.0.1:1"], .unreachable(.webIdentity)),
    ])
    func `Mistakes are reported`(change: [String: String], error: CredentialsError) async {
        await #expect(throws: error) {
            try await loadCredentials(environment.merging(change) { $1 }, files: ["/token": "t"])
        }
    }

    @Test(arguments: [
        ("403 Forbidden", CredentialsError.refused(.webIdentity, status: 403)), ("200 OK", .malformed(.webIdentity)),
    ])
    func `Other answers are reported`(status: String, error: CredentialsError) async throws {
        try await withCredentialsEndpoint { _ in
            [.respond(status, body: Reply.page)]
        } testing: { service in
            await #expect(throws: error) {
                try await loadCredentials(
                    environment.merging(["AWS_ENDPOINT_URL_STS": "http://127.0.0.1:\(service.port)"]) { $1 },
                    files: ["/token": "t"])
            }
        }
    }
}
