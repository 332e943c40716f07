package import DarkroomNetwork
import Foundation
import HTTPTypes
import NIOCore

/// Serves `local:///path` from files within the executable, in place of ``LocalFiles`` on servers without a root.
///
/// Every other local URL is refused.
package struct EmbeddedFiles: OriginFetching {
    private let files: [String: ByteBuffer]

    /// - Parameter files: the bytes of each file by its URL's path, such as `/samples/cat.jpg`.
    package init(_ files: [String: [UInt8]]) {
        self.files = files.mapValues { ByteBuffer(bytes: $0) }
    }

    package func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        guard request.url.scheme == .local else {
            throw .invalidURL(.unsupportedScheme(request.url.scheme.rawValue))
        }
        guard let file = files[request.url.path] else { throw .notAllowed(.local) }
        let now = Date()
        return OriginResponse(
            url: request.url, status: .ok, headers: [:], body: file, requestedAt: now, receivedAt: now)
    }

    package func refusal(of source: SourceURL) -> OriginError? {
        files[source.path] == nil ? .notAllowed(.local) : nil
    }
}
