import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import HTTPTypes
import Testing

@testable import DarkroomPipeline

/// Origins whose answers depend on what we send them.
@Suite(.timeLimit(.minutes(2)))
struct VaryTests {
    @Test func `A picture that varies on what we send is another one when we send something else`() async throws {
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

    @Test func `A picture for other fields than ours never stands in`() async throws {
        var fields = HTTPFields.control("max-age=60, stale-if-error=600")
        fields[.vary] = "Authorization"
        let token = Token()
        let bench = try Bench(fields, delegate: token)
        try await bench.ask()
        bench.origin.answer(.status(500))
        token.change()
        #expect(try await bench.failure() != nil)
        // Nor while the failure is remembered.
        #expect(try await bench.failure() != nil)
    }
}

/// A delegate that signs its requests, each time with what it has now.
private final class Token: ImagePipelineDelegate {
    private let changes = Counter()

    func change() { changes.add() }

    func originFields(_ fields: HTTPFields, for source: SourceURL) async -> HTTPFields {
        var fields = fields
        fields[.authorization] = "Bearer \(changes.value)"
        return fields
    }
}
