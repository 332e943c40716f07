import Foundation
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// `Fixtures/signatures.json`.
struct SignatureVectors: Decodable, Sendable {
    struct Valid: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var key: String
        var path: String
        var parameters: [String: String]
        var text: String
        var signature: String
        var url: String
        var signedPath: String?

        var testDescription: String { name }
    }

    struct Alias: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var url: String

        var testDescription: String { name }
    }

    struct Invalid: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var url: String
        var problem: String

        var testDescription: String { name }
    }

    var now: Double
    var keys: [String: String]
    var valid: [Valid]
    /// Requests that a server accepts only with presets or uploads, or whose source it has to fetch.
    var signed: [Valid]
    var same: [Alias]
    var invalid: [Invalid]

    static let all: SignatureVectors = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let data = (try? Data(contentsOf: root.appendingPathComponent("Fixtures/signatures.json"))) ?? Data()
        do {
            return try decoder.decode(SignatureVectors.self, from: data)
        } catch {
            Issue.record("Fixtures/signatures.json can't be read: \(error)")
            return SignatureVectors(now: 0, keys: [:], valid: [], signed: [], same: [], invalid: [])
        }
    }()

    /// Of a server with these keys, at that time.
    func configuration(token: String? = nil) throws -> WebConfiguration {
        var configuration = WebConfiguration.test(token: token)
        configuration.access.signingKeys = try keys.sorted { $0.key < $1.key }.map {
            try SigningKey(id: $0, secret: $1)
        }
        configuration.now = { [now] in Date(timeIntervalSince1970: now) }
        return configuration
    }
}
