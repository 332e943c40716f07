import Testing

@testable import DarkroomObjectStorage

struct SharedCredentialsFilesTests {
    static let credentials = """
        # comment
        [default]
        aws_access_key_id = DEFAULT
        aws_secret_access_key = default/secret+=

        [ work ]
        ; comment
        AWS_ACCESS_KEY_ID=WORK
        aws_secret_access_key=work
        aws_session_token = token
        s3 =
            aws_access_key_id = NESTED
        [half]
        aws_access_key_id = HALF
        [empty]
        """
    static let config = """
        [default]
        region = eu-west-1
        [profile conf]
        aws_access_key_id = CONF
        aws_secret_access_key = conf
        [profile role]
        role_arn = arn:aws:iam::1:role/r
        """
    private let files = [
        "/h/.aws/credentials": credentials, "/h/.aws/config": config,
        "/other": "[x]\r\naws_access_key_id=X\r\naws_secret_access_key=x\r\n",
    ]

    @Test(arguments: [
        ([:], "DEFAULT", "default/secret+="), (["AWS_PROFILE": "work"], "WORK", "work"),
        (["AWS_DEFAULT_PROFILE": "work"], "WORK", "work"), (["AWS_PROFILE": "conf"], "CONF", "conf"),
        (["AWS_PROFILE": "x", "AWS_SHARED_CREDENTIALS_FILE": "/other"], "X", "x"),
        (["AWS_PROFILE": "x", "AWS_SHARED_CREDENTIALS_FILE": "~/.aws/../../other"], "X", "x"),
    ])
    func `The profile is read`(environment: [String: String], key: String, secret: String) async throws {
        var files = files
        files["/h/.aws/../../other"] = files["/other"]
        let credentials = try await loadCredentials(environment.merging(["HOME": "/h"]) { $1 }, files: files)
        #expect(credentials.accessKey == key)
        #expect(credentials.secretKey == secret)
        #expect(credentials.sessionToken == (key == "WORK" ? "token" : nil))
    }

    @Test(arguments: [
        (["AWS_PROFILE": "missing"], CredentialsError.profileNotFound("missing")),
        (["AWS_PROFILE": "half"], .incomplete(.sharedFiles)),
        (["AWS_SHARED_CREDENTIALS_FILE": "/missing"], .unreadable(.sharedFiles, path: "/missing")),
        (["AWS_PROFILE": "role"], .notFound), (["AWS_PROFILE": "empty"], .notFound),
    ])
    func `Mistakes are reported`(environment: [String: String], error: CredentialsError) async {
        let environment = environment.merging(["HOME": "/h", "AWS_EC2_METADATA_DISABLED": "true"]) { $1 }
        await #expect(throws: error) { try await loadCredentials(environment, files: files) }
    }

    @Test func `Without files the next source is asked`() async {
        await #expect(throws: CredentialsError.notFound) {
            try await loadCredentials(["HOME": "/h", "AWS_EC2_METADATA_DISABLED": "TRUE"])
        }
    }
}
