import Foundation

/// The sources of credentials in the order in which they are tried. The order is the same as in the AWS tools:
/// environment, shared files, web identity, container, instance.
///
/// The first source that is configured provides the credentials; if it fails, no other source is tried. The instance is
/// tried if nothing else is configured.
struct CredentialsChain: Sendable {
    /// Fixed addresses of platforms.
    struct Addresses {
        /// The credentials endpoint of ECS.
        var container = "http://169.254.170.2"
        /// The instance metadata service of EC2.
        var instance = "http://169.254.169.254"
    }

    private let environment: [String: String]
    private let readFile: @Sendable (String) -> [UInt8]?
    private let http: CredentialsHTTP
    private let addresses: Addresses

    /// - Parameter environment: the variables of the process.
    init(
        environment: [String: String], readFile: @escaping @Sendable (String) -> [UInt8]? = CredentialsFile.read,
        http: CredentialsHTTP, addresses: Addresses = Addresses()
    ) {
        self.environment = environment.filter { !$0.value.isEmpty }
        self.readFile = readFile
        self.http = http
        self.addresses = addresses
    }

    /// Loads credentials from the first source that is configured.
    func load() async throws(CredentialsError) -> Credentials {
        if let credentials = try fromEnvironment() { return credentials }
        let files = SharedCredentialsFiles(environment: environment, readFile: readFile)
        if let credentials = try files.credentials() { return credentials }
        if let identity = try WebIdentity(environment: environment) {
            return try await identity.load(http, readFile: readFile)
        }
        if let endpoint = try ContainerEndpoint(environment: environment, address: addresses.container) {
            return try await endpoint.load(http, readFile: readFile)
        }
        guard let metadata = InstanceMetadata(environment: environment, address: addresses.instance) else {
            throw .notFound
        }
        return try await metadata.load(http)
    }

    func shutdown() async { await http.shutdown() }

    private func fromEnvironment() throws(CredentialsError) -> Credentials? {
        switch (environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"]) {
        case (let accessKey?, let secretKey?):
            return try Credentials(
                accessKey: accessKey, secretKey: secretKey, sessionToken: environment["AWS_SESSION_TOKEN"],
                from: .environment)
        case (nil, nil): return nil
        default: throw .incomplete(.environment)
        }
    }
}

/// A small file that holds keys or tokens. Read again whenever it is needed: platforms replace it.
enum CredentialsFile {
    private static let maxBytes = 1 << 20

    /// The file's bytes, or nil if it cannot be read or has more than 1 MiB.
    @Sendable static func read(_ path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let data = try? file.read(upToCount: maxBytes + 1) ?? Data(), data.count <= maxBytes else { return nil }
        return Array(data)
    }

    /// A token without the blanks and line ends around it. Nil if it is empty or has others inside.
    static func token(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
        return text
    }
}
