import AsyncHTTPClient
import DarkroomHTTPClient
import DarkroomNetwork
import Foundation
import NIOCore
import NIOHTTP1

/// A workload's token, such as the token of a Kubernetes service account. AWS Security Token Service exchanges it for
/// credentials of a role (`AssumeRoleWithWebIdentity`).
///
/// Configured by `AWS_WEB_IDENTITY_TOKEN_FILE`, `AWS_ROLE_ARN` and, optionally, `AWS_ROLE_SESSION_NAME`. The service's
/// endpoint follows from `AWS_REGION`, or is `AWS_ENDPOINT_URL_STS`.
struct WebIdentity: Equatable {
    private static let limit = Duration.seconds(5)

    let tokenFile: String
    let role: String
    let sessionName: String
    let service: String

    /// Nil if no token is configured.
    init?(environment: [String: String]) throws(CredentialsError) {
        guard let tokenFile = environment["AWS_WEB_IDENTITY_TOKEN_FILE"] else { return nil }
        guard let role = environment["AWS_ROLE_ARN"] else { throw .incomplete(.webIdentity) }
        self.tokenFile = tokenFile
        self.role = role
        sessionName = environment["AWS_ROLE_SESSION_NAME"] ?? "darkroom"
        let region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"]
        service = try Self.service(environment["AWS_ENDPOINT_URL_STS"], region: region)
    }

    func load(
        _ http: CredentialsHTTP, readFile: (String) -> [UInt8]?
    ) async throws(CredentialsError) -> Credentials {
        guard let token = readFile(tokenFile).flatMap(CredentialsFile.token) else {
            throw .unreadable(.webIdentity, path: tokenFile)
        }
        let form = CanonicalRequest.query([
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", sessionName), ("WebIdentityToken", token),
        ])
        var request = HTTPClientRequest(.POST, exactly: service)
        request.headers.add(contentsOf: [
            "content-type": "application/x-www-form-urlencoded", "accept": "application/xml", "user-agent": "darkroom",
        ])
        request.body = .bytes(ByteBuffer(string: form))
        return try Self.credentials(try await http.body(of: request, for: .webIdentity, within: Self.limit))
    }

    private static func credentials(_ document: ByteBuffer) throws(CredentialsError) -> Credentials {
        let root = try? XMLReader.root(of: Array(document.readableBytesView))
        let keys = root?.child("AssumeRoleWithWebIdentityResult")?.child("Credentials")
        guard let keys, let accessKey = keys.text(of: "AccessKeyId"), let secretKey = keys.text(of: "SecretAccessKey"),
            let token = keys.text(of: "SessionToken"),
            let expiration = keys.text(of: "Expiration").flatMap(Date.init(iso8601:))
        else { throw .malformed(.webIdentity) }
        return try Credentials(
            accessKey: accessKey, secretKey: secretKey, sessionToken: token, expiration: expiration, from: .webIdentity)
    }

    private static func service(_ endpoint: String?, region: String?) throws(CredentialsError) -> String {
        if let endpoint {
            guard let url = try? SourceURL(parsing: endpoint), url.scheme.isWeb, url.query == nil else {
                throw .malformed(.webIdentity)
            }
            return url.canonical
        }
        guard let region else { return "https://sts.amazonaws.com/" }
        guard region.isAmazonRegion else { throw .malformed(.webIdentity) }
        return "https://sts.\(region).\(region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com")/"
    }
}
