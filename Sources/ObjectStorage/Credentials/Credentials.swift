package import Foundation

/// Keys that sign requests. Descriptions and dumps contain none of them.
package struct Credentials: Equatable, Sendable {
    /// Identifies the secret key. Sent with each request.
    package let accessKey: String
    /// Signs requests. Never sent.
    package let secretKey: String
    /// Comes with temporary keys. Sent with each request.
    package let sessionToken: String?
    /// When temporary keys expire. Nil for keys that do not.
    package let expiration: Date?

    /// - Throws: ``CredentialsError/malformed(_:)`` if the keys are empty or cannot be part of header fields.
    package init(
        accessKey: String, secretKey: String, sessionToken: String? = nil, expiration: Date? = nil,
        from source: CredentialsSource = .settings
    ) throws(CredentialsError) {
        let isPrintable = { (text: String) in text.utf8.allSatisfy { (0x21...0x7e).contains($0) } }
        guard !accessKey.isEmpty, !secretKey.isEmpty, isPrintable(accessKey), isPrintable(secretKey),
            isPrintable(sessionToken ?? ""), !accessKey.utf8.contains(where: { "/,".utf8.contains($0) })
        else { throw .malformed(source) }
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken.flatMap { $0.isEmpty ? nil : $0 }
        self.expiration = expiration
    }

    /// Whether the keys can be used at this time and for some time after it.
    func isValid(at date: Date, for time: TimeInterval) -> Bool {
        expiration.map { $0.timeIntervalSince(date) > time } ?? true
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without keys.
    package var description: String { "Credentials(redacted)" }
    /// A text without keys.
    package var debugDescription: String { description }
    /// Nothing, so that dumps contain no keys.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

package protocol CredentialsProviding: Sendable {
    /// The credentials to sign a request with now. Responds to cancellation at once.
    func credentials() async throws(CredentialsError) -> Credentials

    /// Records that the store considers these credentials expired.
    func invalidate(_ credentials: Credentials)
}

/// Where credentials come from.
package enum CredentialsSource: String, Sendable, CaseIterable {
    /// The settings of this server.
    case settings = "the settings"
    /// `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`.
    case environment = "the environment"
    /// The shared credentials and configuration files of the AWS tools.
    case sharedFiles = "the shared credentials file"
    /// The token of a workload, exchanged at AWS Security Token Service.
    case webIdentity = "the web identity"
    /// The endpoint of a container platform: ECS or EKS Pod Identity.
    case container = "the container"
    /// The instance metadata service of EC2, version 2.
    case instance = "the instance"
}

/// Why there are no credentials. Descriptions contain no keys, tokens or file contents.
package enum CredentialsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No source has credentials.
    case notFound
    /// The shared files have no profile of this name, which the environment selects.
    case profileNotFound(String)
    /// One of two parts that belong together is missing, such as the secret key.
    case incomplete(CredentialsSource)
    /// A file cannot be read.
    case unreadable(CredentialsSource, path: String)
    /// The source provided something unreadable, or an invalid key.
    case malformed(CredentialsSource)
    /// The URL of the container's endpoint is not allowed: without TLS, only loopback and the addresses of ECS and EKS
    /// are.
    case endpointNotAllowed
    case refused(CredentialsSource, status: Int)
    /// The source did not answer, or not in time.
    case unreachable(CredentialsSource)
    /// The task was canceled.
    case canceled

    /// The error as a sentence.
    package var description: String {
        switch self {
        case .notFound:
            "There are no credentials for the object store: not in settings, environment, the shared credentials file, "
                + "a web identity, the container or the instance."
        case .profileNotFound(let name): "The shared credentials file has no profile '\(name)'."
        case .incomplete(let source): "The credentials of \(source.rawValue) are incomplete."
        case .unreadable(let source, let path):
            "The file '\(path)' for the credentials of \(source.rawValue) is unreadable."
        case .malformed(let source): "The credentials of \(source.rawValue) are malformed."
        case .endpointNotAllowed:
            "AWS_CONTAINER_CREDENTIALS_FULL_URI is not allowed; use https, a loopback address, or one of ECS or EKS."
        case .refused(let source, let status):
            "The credentials of \(source.rawValue) were refused with status \(status)."
        case .unreachable(let source): "The credentials of \(source.rawValue) could not be loaded: no answer."
        case .canceled: "Loading credentials was canceled."
        }
    }
}
