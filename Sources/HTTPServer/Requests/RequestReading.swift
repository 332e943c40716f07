import HTTPTypes
package import Hummingbird
package import NIOCore

extension Request {
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
