import Testing

@testable import DarkroomObjectStorage

struct EnvironmentCredentialsTests {
    @Test func `The environment takes precedence`() async throws {
        let credentials = try await loadCredentials(
            [
                "AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t", "HOME": "/h",
                "AWS_PROFILE": "missing", "AWS_WEB_IDENTITY_TOKEN_FILE": "/t",
            ], files: ["/h/.aws/credentials": "[default]\naws_access_key_id=FILE\naws_secret_access_key=s"])
        #expect(try credentials == Credentials(accessKey: "ENV", secretKey: "s", sessionToken: "t"))
    }

    @Test(arguments: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
    func `Half a pair is reported`(variable: String) async {
        await #expect(throws: CredentialsError.incomplete(.environment)) { try await loadCredentials([variable: "x"]) }
    }

    @Test(arguments: ["a b", "a/b", "a,b", "a\r\nx: y", "é"])
    func `Keys that header fields cannot carry are reported`(key: String) async {
        await #expect(throws: CredentialsError.malformed(.environment)) {
            try await loadCredentials(["AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": "s"])
        }
    }

    @Test func `Empty variables are not set`() async {
        await #expect(throws: CredentialsError.notFound) {
            try await loadCredentials([
                "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": "",
                "AWS_EC2_METADATA_DISABLED": "true",
            ])
        }
    }

    @Test func `Keys appear in no description`() throws {
        let credentials = try Credentials(accessKey: "AKIAKEY", secretKey: "hidden", sessionToken: "token")
        var dumped = ""
        dump(credentials, to: &dumped)
        dump(StaticCredentials(credentials), to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), "\(StaticCredentials(credentials))", dumped] {
            #expect(!text.contains("hidden") && !text.contains("AKIAKEY") && !text.contains("token"))
        }
    }
}
