import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomWaiting
import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// What an explanation says is what the next request does, in random states of the caches, the origin and the request.
@Suite(.timeLimit(.minutes(5)))
struct ExplanationAgreementTests {
    /// Sends a language that the test changes, so that `Vary` matters.
    private final class Speaker: ImagePipelineDelegate {
        let language = Mutex("en")

        func originFields(_ fields: HTTPFields, for source: SourceURL) async -> HTTPFields {
            var fields = fields
            fields[.acceptLanguage] = language.withLock(\.self)
            return fields
        }
    }

    @Test(arguments: 0..<60)
    func `An explanation, a failure at once and the request after them agree`(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let speaker = Speaker()
        let bench = try Bench(.control("max-age=60", etag: "a"), delegate: speaker)
        for _ in 0..<12 {
            try await disturb(bench, speaker, &random)
            let request = try randomRequest(bench, &random)
            await bench.settle()
            let before = bench.origin.fetches.value
            let explained = await Result { () async throws(PipelineError) in try await bench.pipeline.explain(request) }
            let failure = bench.pipeline.failureNow(of: request)
            #expect(bench.origin.fetches.value == before)
            let answer = await Result { () async throws(PipelineError) in
                try await bench.pipeline.image(for: request)
            }
            if let failure { #expect(answer.error == failure) }
            let fetches = bench.origin.fetches.value - before
            await bench.pipeline.resolver.background.drain()
            check(explained, answer, request, fetches: fetches, fetchesInAll: bench.origin.fetches.value - before)
        }
    }

    private func check(
        _ explained: Result<Explanation, PipelineError>, _ answer: Result<ImageResponse, PipelineError>,
        _ request: ImageRequest, fetches: Int, fetchesInAll: Int
    ) {
        let explanation: Explanation
        switch explained {
        case .success(let success): explanation = success
        case .failure(let error):
            #expect(answer.error?.cause == error.cause)
            return
        }
        guard let decision = explanation.decision else {
            Issue.record("An explanation without a decision.")
            return
        }
        let report = (try? answer.get())?.cache
        switch decision.step {
        case .useVariant:
            #expect(report?.variant != nil && report?.forwarded == nil)
            #expect(report?.staleBecause?.cause == decision.staleBecause?.cause)
            if !decision.revalidatesInBackground { #expect(fetchesInAll == 0) }
        case .produce:
            #expect(report != nil && report?.variant == nil && report?.forwarded == nil)
            #expect(report?.original != nil)
            #expect(report?.staleBecause?.cause == decision.staleBecause?.cause)
            if !decision.revalidatesInBackground { #expect(fetchesInAll == 0) }
        case .fetch(_, let reason):
            #expect(fetches > 0)
            // If the fetch fails, a stale image may be the answer, or the image without its placeholders.
            let isReplaced = report?.staleBecause != nil || !request.placeholders.isEmpty
            if let report, !isReplaced { #expect(report.forwarded == reason) }
        case .fail(let error):
            #expect(answer.error == error)
            #expect(fetchesInAll == 0)
        case .lookUp:
            Issue.record("An explanation stops at a step that acts.")
        }
    }

    // MARK: Randomness

    private func disturb(
        _ bench: Bench, _ speaker: Speaker, _ random: inout SeededGenerator
    ) async throws {
        bench.wall.advance(seconds: [0, 1, 30, 61, 90, 200].randomElement(using: &random) ?? 0)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3: bench.origin.answer(try randomPicture(&random))
        case 4: bench.origin.answer(.status([404, 500, 403].randomElement(using: &random) ?? 500))
        case 5: bench.origin.answer(.picture(ByteBuffer(string: "no image"), .control("max-age=60", etag: "t")))
        case 6: bench.pipeline.shrinkMemory(toFraction: 0)
        case 7: await bench.disk.remove(RequestKeys.original(of: RequestKeys.source(SourceURL.example.canonical)))
        case 8: bench.memory.removeEverything()
        case 9: await bench.pipeline.purge(.source(.example), soft: true)
        case 10: speaker.language.withLock { $0 = $0 == "en" ? "de" : "en" }
        default: break
        }
    }

    private func randomPicture(_ random: inout SeededGenerator) throws -> FakeOrigin.Answer {
        let controls = [
            "max-age=60", "max-age=60, stale-while-revalidate=50", "max-age=60, stale-if-error=500",
            "max-age=60, must-revalidate", "no-cache", "no-store",
        ]
        let isRed = Bool.random(using: &random)
        var fields = HTTPFields.control(
            controls.randomElement(using: &random) ?? "", etag: Bool.random(using: &random) ? "\(isRed)" : nil)
        if Int.random(in: 0..<4, using: &random) == 0 { fields[.vary] = "Accept-Language" }
        return .picture(try isRed ? Pictures.red.get() : Pictures.green.get(), fields)
    }

    private func randomRequest(_ bench: Bench, _ random: inout SeededGenerator) throws -> ImageRequest {
        let isPlain = Bool.random(using: &random)
        var request = try bench.request(
            width: Bool.random(using: &random) ? 20 : 10,
            mode: isPlain ? .default : CacheMode.allCases.randomElement(using: &random) ?? .default,
            allowsForcedRefresh: Bool.random(using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: request.cache.query = .memory
        case 1: request.cache.query = .originals
        case 2: request.cache.query = .variants
        case 3: request.cache.store = .none
        case 4, 5: request.placeholders = [.color]
        default: break
        }
        return request
    }
}

extension Result {
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
