import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import HTTPTypes
import NIOCore

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Images that show a mark, which has an origin of its own.
extension Bench {
    static let markURL = "http://marks.net/logo.png"
    static let markPath = "/logo.png"

    /// A bench whose origin also has a mark.
    static func withMark(
        _ fields: HTTPFields = .control("max-age=600", etag: "a"),
        mark: HTTPFields = .control("max-age=600", etag: "m"), gate: Gate? = nil,
        memoryBytes: Int = 1 << 20, encodingBudget: Duration = .milliseconds(150)
    ) throws -> Bench {
        let bench = try Bench(
            fields, gate: gate, memoryBytes: memoryBytes, encodingBudget: encodingBudget)
        bench.origin.answer(markPath, .picture(try Self.mark(), mark))
        return bench
    }

    static func mark(_ color: [UInt8] = [20, 200, 20]) throws -> ByteBuffer {
        try Pictures.png(width: 8, height: 6, color: color)
    }

    func markedRequest(
        width: Int = 20, mode: CacheMode = .default, store: TierSelection = .all
    ) throws -> ImageRequest {
        var request = try request(width: width, mode: mode, store: store)
        request.mark = try SourceURL(parsing: Self.markURL)
        request.recipe.mark = Mark(anchor: .topLeft)
        return request
    }

    func askMarked(
        width: Int = 20, mode: CacheMode = .default, store: TierSelection = .all
    ) async throws -> ImageResponse {
        try await pipeline.image(for: markedRequest(width: width, mode: mode, store: store))
    }

    func failure(of request: ImageRequest) async -> PipelineError? {
        do throws(PipelineError) {
            _ = try await pipeline.image(for: request)
            return nil
        } catch {
            return error
        }
    }

    func fetches(of path: String = markPath) -> Int {
        origin.requests.count { $0.url.path == path }
    }
}
