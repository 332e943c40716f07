import HTTPTypes
import NIOHTTP1
import ServiceContextModule
import Testing
import Tracing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

struct TraceTests {
    private enum Key: ServiceContextKey {
        typealias Value = String
    }

    /// Carries one word, and tries what it should not.
    private struct WordCarrier: Instrument {
        func extract<Carrier, Extract: Extractor>(
            _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
        ) where Extract.Carrier == Carrier {}

        func inject<Carrier, Inject: Injector>(
            _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
        ) where Inject.Carrier == Carrier {
            injector.inject(context[Key.self] ?? "none", forKey: "trace-word", into: &carrier)
            injector.inject("a\r\nevil: 1", forKey: "trace-evil", into: &carrier)
            injector.inject("1", forKey: "not a name", into: &carrier)
        }
    }

    private func carried(_ priority: OriginRequest.Priority, in word: String?) throws -> HTTPFields {
        let request = OriginRequest(url: try SourceURL(parsing: "https://a.org/"), urgency: { priority })
        var context = word.map { _ in ServiceContext.topLevel }
        context?[Key.self] = word
        return ServiceContext.withValue(context) { HTTPFields.trace(for: request, by: WordCarrier()) }
    }

    @Test func `The trace of the task goes along, as far as its fields are fields`() throws {
        let name = try #require(HTTPField.Name("trace-word"))
        #expect(try carried(.normal, in: "hello") == [name: "hello"])
        #expect(try carried(.low, in: "hello") == [name: "hello"])
    }

    @Test func `Work in the background and outside of a request carries none`() throws {
        #expect(try carried(.background, in: "hello").isEmpty)
        #expect(try carried(.high, in: nil).isEmpty)
    }

    @Test func `The trace goes in place of fields of its names, is sent once, and does not count for Vary`() throws {
        let name = try #require(HTTPField.Name("traceparent"))
        let request = OriginRequest(url: try SourceURL(parsing: "https://a.org/"), headers: [name: "a caller's"])
        let headers = RequestHeaders(request, userAgent: "u", viaPseudonym: "v", trace: [name: "ours"])
        #expect(headers.all["traceparent"] == ["ours"])
        #expect(!headers.selecting.contains(name))
        #expect(RequestHeaders(request, userAgent: "u", viaPseudonym: "v").all["traceparent"] == ["a caller's"])
    }
}
