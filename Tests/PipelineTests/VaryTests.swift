import DarkroomCache
import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import HTTPTypes
import Testing

@testable import DarkroomPipeline

/// Origins whose responses depend on the request fields.
@Suite(.timeLimit(.minutes(5)))
struct VaryTests {
    @Test func `A response that varies is not used for other request fields`() async throws {
        var fields = HTTPFields.control("max-age=60")
        fields[.vary] = "Authorization"
        let token = Token()
        let bench = try Bench(fields, delegate: token)
        try await bench.ask()
        #expect(try await bench.ask().cache == CacheReport(variant: .memory))
        token.change()
        #expect(try await bench.ask().cache.forwarded == .varyMiss)
        #expect(bench.origin.requests.last?.validators.isEmpty == true)
    }

    @Test func `A response to other request fields is never served stale`() async throws {
        var fields = HTTPFields.control("max-age=60, stale-if-error=600")
        fields[.vary] = "Authorization"
        let token = Token()
        let bench = try Bench(fields, delegate: token)
        try await bench.ask()
        bench.origin.answer(.status(500))
        token.change()
        #expect(try await bench.failure() != nil)
        // The same holds while the failure is remembered.
        #expect(try await bench.failure() != nil)
    }
}

/// A delegate that signs its requests with its current token.
private final class Token: ImagePipelineDelegate {
    private let changes = Counter()

    func change() { changes.add() }

    func originFields(_ fields: HTTPFields, for source: SourceURL) async -> HTTPFields {
        var fields = fields
        fields[.authorization] = "Bearer \(changes.value)"
        return fields
    }
}
