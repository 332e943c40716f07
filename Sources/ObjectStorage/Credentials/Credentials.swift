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

/// Provides the credentials of a store.
package protocol CredentialsProviding: Sendable {
    /// The credentials to sign a request with now. Responds to cancellation at once.
    func credentials() async throws(CredentialsError) -> Credentials

    /// Records that the store considers these credentials expired.
    func invalidate(_ credentials: Credentials)
}

/// Credentials that never change.
package struct StaticCredentials: CredentialsProviding {
    private let value: Credentials

    /// Always the same credentials.
    package init(_ credentials: Credentials) {
        value = credentials
    }

    package func credentials() async throws(CredentialsError) -> Credentials { value }

    package func invalidate(_ credentials: Credentials) {}
}
