import AsyncHTTPClient
import DarkroomHTTPClient
import DarkroomNetwork
import NIOCore
import NIOHTTP1

/// The instance metadata service of Amazon EC2, version 2: a session token first, then the role's name, then its keys.
///
/// `AWS_EC2_METADATA_DISABLED=true` turns it off, `AWS_EC2_METADATA_SERVICE_ENDPOINT` replaces its address.
struct InstanceMetadata {
    /// For each of the three requests.
    private static let limit = Duration.seconds(1)
    private static let rolePath = "/latest/meta-data/iam/security-credentials/"

    private let address: String

    /// Nil if the service is turned off.
    init?(environment: [String: String], address: String) {
        guard environment["AWS_EC2_METADATA_DISABLED"]?.lowercased() != "true" else { return nil }
        let address = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? address
        self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
    }

    func load(_ http: CredentialsHTTP) async throws(CredentialsError) -> Credentials {
        let token: ByteBuffer
        do throws(CredentialsError) {
            let request = request(
                .PUT, "/latest/api/token", ["x-aws-ec2-metadata-token-ttl-seconds": "21600", "content-length": "0"])
            token = try await http.body(of: request, for: .instance, within: Self.limit)
        } catch {
            // Outside of EC2, nothing answers at this address: there are no credentials anywhere.
            throw error == .unreachable(.instance) ? .notFound : error
        }
        guard let token = CredentialsFile.token(Array(token.readableBytesView)) else { throw .malformed(.instance) }
        let fields = ["x-aws-ec2-metadata-token": token]
        let names = try await http.body(
            of: request(.GET, Self.rolePath, fields), for: .instance, within: Self.limit)
        let role = String(buffer: names).split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        guard !role.isEmpty, role != ".", role != ".." else { throw .malformed(.instance) }
        let path = Self.rolePath + PercentEncoding.encode(role)
        return try CredentialsDocument.credentials(
            try await http.body(of: request(.GET, path, fields), for: .instance, within: Self.limit), from: .instance)
    }

    private func request(_ method: HTTPMethod, _ path: String, _ fields: [String: String]) -> HTTPClientRequest {
        var request = HTTPClientRequest(method, exactly: address + path)
        request.headers.add(contentsOf: fields.map { ($0.key, $0.value) })
        request.headers.add(name: "user-agent", value: "darkroom")
        return request
    }
}
