import DarkroomTestOrigin
import NIOPosix

@testable import DarkroomObjectStorage

/// Runs the chain of sources with an environment and files of a test.
func loadCredentials(
    _ environment: [String: String], files: [String: String] = [:], container: TestOrigin? = nil,
    instance: TestOrigin? = nil
) async throws -> Credentials {
    let http = CredentialsHTTP(eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
    let chain = CredentialsChain(
        environment: environment, readFile: { files[$0].map { Array($0.utf8) } }, http: http,
        addresses: .init(
            container: "http://127.0.0.1:\(container?.port ?? 1)", instance: "http://127.0.0.1:\(instance?.port ?? 1)"))
    let result: Result<Credentials, CredentialsError>
    do throws(CredentialsError) { result = .success(try await chain.load()) } catch { result = .failure(error) }
    await http.shutdown()
    return try result.get()
}

/// Runs `body` with an endpoint that answers by the script.
func withCredentialsEndpoint(
    _ script: @escaping @Sendable (TestOrigin.Request) -> [TestOrigin.Step],
    testing body: (TestOrigin) async throws -> Void
) async throws {
    let endpoint = TestOrigin(script: script)
    try await endpoint.start()
    let result: Result<Void, any Error>
    do { result = .success(try await body(endpoint)) } catch { result = .failure(error) }
    try await endpoint.stop()
    try result.get()
}

func credentialsDocument(_ key: String, expiration: String = "2026-11-22T12:00:00Z") -> String {
    """
    {"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": "\(key)", "SecretAccessKey": "secret", "Token": "token", \
    "Expiration": "\(expiration)", "LastUpdated": "2026-11-22T10:00:00Z"}
    """
}
