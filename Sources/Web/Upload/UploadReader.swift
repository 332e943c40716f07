import DarkroomHTTPServer
import DarkroomOrigin
import DarkroomPipeline
import DarkroomRequests
import HTTPTypes
import Hummingbird
import NIOCore
import Tracing

/// Reads the image out of the body of a request, and nothing more than it may have.
struct UploadReader: Sendable {
    let form: UploadForm
    let budget: UploadBudget
    /// Who sends the image.
    let client: String

    private var maxBodyBytes: Int { form.maxBodyBytes(maxSourceBytes: budget.maxSourceBytes) }

    /// Throws if the body is known to be too large or empty before it is read.
    func checkLength(_ fields: HTTPFields) throws(Problem) {
        guard let length = fields.announcedLength else { return }
        guard length > 0 else { throw .emptyUpload }
        guard length <= maxBodyBytes else { throw .uploadTooLarge(maxBytes: budget.maxSourceBytes) }
    }

    /// Reads the body, within a span, and compares it with the length that the client announced, if any.
    func read(_ body: RequestBody, announced: Int?) async throws(Problem) -> SourceData {
        let span = startSpan("upload")
        defer { span.end() }
        let data = try await collect(body, announced: announced)
        span.attributes["http.request.body.size"] = data.count
        return data
    }

    private func collect(_ body: RequestBody, announced: Int?) async throws(Problem) -> SourceData {
        var collector = budget.makeCollector(for: client)
        var form = form
        var received = 0
        var pieces = body.makeAsyncIterator()
        while let piece = try await Self.next(&pieces) {
            received += piece.readableBytes
            guard received <= maxBodyBytes else { throw .uploadTooLarge(maxBytes: budget.maxSourceBytes) }
            for part in try form.take(piece) { try await append(part, to: &collector) }
        }
        // A connection that has ended looks like the end of a body.
        guard !Task.isCancelled, announced == nil || announced == received else { throw .incompleteUpload }
        if received > 0 { try form.finish() }
        guard collector.count > 0 else { throw .emptyUpload }
        let (bytes, reservation) = collector.finish()
        return SourceData(bytes, reservation: reservation)
    }

    private static func next(_ pieces: inout RequestBody.AsyncIterator) async throws(Problem) -> ByteBuffer? {
        do { return try await pieces.next() } catch { throw .incompleteUpload }
    }

    private func append(_ part: ByteBuffer, to collector: inout UploadCollector) async throws(Problem) {
        do throws(UploadCollector.Failure) {
            try await collector.append(part)
        } catch {
            switch error {
            case .tooLarge: throw .uploadTooLarge(maxBytes: budget.maxSourceBytes)
            case .canceled: throw .incompleteUpload
            }
        }
    }
}

extension UploadForm {
    /// The pieces of the image in a piece of the body.
    fileprivate mutating func take(_ piece: ByteBuffer) throws(Problem) -> [ByteBuffer] {
        do throws(MultipartFlaw) {
            return try multipart?.read(piece) ?? [piece]
        } catch {
            throw Problem(.invalidBody, error.description)
        }
    }

    /// Throws unless the body was complete.
    fileprivate func finish() throws(Problem) {
        do throws(MultipartFlaw) { try multipart?.finish() } catch { throw Problem(.invalidBody, error.description) }
    }
}

extension Problem {
    fileprivate static let emptyUpload = Problem(.invalidBody, "The body is empty; send the bytes of an image.")

    fileprivate static let incompleteUpload = Problem(
        .invalidBody, "The body is incomplete: it ended early, or did not arrive within 'request-timeout'.")
}
