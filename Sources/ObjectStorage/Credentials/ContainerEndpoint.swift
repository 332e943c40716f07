import AsyncHTTPClient
import DarkroomHTTPClient
import DarkroomNetwork
import NIOCore
import NIOHTTP1

/// The endpoint at which a container platform provides credentials: Amazon ECS or EKS Pod Identity.
///
/// Configured by `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`, or by `AWS_CONTAINER_CREDENTIALS_FULL_URI` with
/// `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE` or `AWS_CONTAINER_AUTHORIZATION_TOKEN`.
struct ContainerEndpoint {
    private static let limit = Duration.seconds(2)
    /// The addresses of ECS and EKS, to which credentials are entrusted without TLS.
    private static let platformAddresses: [IPAddress?] = [
        IPAddress("169.254.170.2"), IPAddress("169.254.170.23"), IPAddress("fd00:ec2::23"),
    ]

    let url: String
    private let tokenFile: String?
    private let token: String?

    /// Nil if no endpoint is configured.
    init?(environment: [String: String], address: String) throws(CredentialsError) {
        if let path = environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] {
            guard path.hasPrefix("/"), let url = try? SourceURL(parsing: address + path) else {
                throw .malformed(.container)
            }
            self.url = url.canonical
        } else if let text = environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] {
            guard let url = try? SourceURL(parsing: text), url.scheme.isWeb else { throw .malformed(.container) }
            guard url.scheme == .https || Self.isTrusted(url.host) else { throw .endpointNotAllowed }
            self.url = url.canonical
        } else {
            return nil
        }
        tokenFile = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"]
        token = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
    }

    func load(
        _ http: CredentialsHTTP, readFile: (String) -> [UInt8]?
    ) async throws(CredentialsError) -> Credentials {
        var request = HTTPClientRequest(exactly: url)
        request.headers.add(contentsOf: ["accept": "application/json", "user-agent": "darkroom"])
        if let authorization = try authorization(readFile) {
            request.headers.add(name: "authorization", value: authorization)
        }
        return try CredentialsDocument.credentials(
            try await http.body(of: request, for: .container, within: Self.limit), from: .container)
    }

    /// The current token. EKS replaces the file.
    private func authorization(_ readFile: (String) -> [UInt8]?) throws(CredentialsError) -> String? {
        if let tokenFile {
            guard let token = readFile(tokenFile).flatMap(CredentialsFile.token) else {
                throw .unreadable(.container, path: tokenFile)
            }
            return token
        }
        guard let token else { return nil }
        guard let value = CredentialsFile.token(Array(token.utf8)) else { throw .malformed(.container) }
        return value
    }

    private static func isTrusted(_ host: SourceURL.Host?) -> Bool {
        switch host {
        case .name(let name): name == "localhost"
        case .address(.v4(let value)) where value >> 24 == 127: true
        case .address(.v6(1)): true
        case .address(let address): platformAddresses.contains(address)
        case nil: false
        }
    }
}
