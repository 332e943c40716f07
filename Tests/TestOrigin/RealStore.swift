import Foundation

/// The object store that `scripts/object-store run` started for these tests.
package struct RealStore: Decodable, Sendable {
    package let endpoint: String
    package let region: String
    package let accessKey: String
    package let secretKey: String
    package let bucket: String
    package let gatewayPID: Int32

    private enum CodingKeys: String, CodingKey {
        case endpoint, region, bucket
        case accessKey = "access_key"
        case secretKey = "secret_key"
        case gatewayPID = "gateway_pid"
    }

    /// Nil if the tests run without a store.
    package static let shared: RealStore? = ProcessInfo.processInfo.environment["DARKROOM_OBJECT_STORE"].flatMap {
        try? JSONDecoder().decode(RealStore.self, from: Data($0.utf8))
    }
}
