import HTTPTypes
package import Hummingbird
package import NIOCore

extension Request {
    /// The maximum length in bytes of a target that endpoints parse. A source URL of maximum length fits, fully
    /// encoded.
    package static let maxTargetBytes = 32 * 1024

    /// Throws a problem when the target is too long to parse.
    package func requireParsableTarget() throws(Problem) {
        guard uri.string.utf8.count <= Self.maxTargetBytes else {
            throw .targetTooLong(maxBytes: Self.maxTargetBytes)
        }
    }

    /// The body of a request that declares it as JSON.
    package func jsonBody(upTo maxBytes: Int) async throws(Problem) -> ByteBuffer {
        let type = headers[.contentType]?.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard type == "application/json" else {
            throw Problem(.unsupportedBody, "The body must be JSON, sent with 'Content-Type: application/json'.")
        }
        do {
            return try await body.collect(upTo: maxBytes)
        } catch is NIOTooManyBytesError {
            throw Problem(.bodyTooLarge, "The body must be at most \(maxBytes) bytes long; send several requests.")
        } catch {
            throw Problem(.invalidBody, "The body is incomplete.")
        }
    }
}
