import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import DarkroomHTTPServer

struct ProblemTests {
    @Test func `The response is an uncacheable problem document`() async throws {
        var problem = Problem(.unavailable, "Later.", retryAfterSeconds: 7)
        problem.fields[.vary] = "Accept"
        let response = problem.response(requestID: "7")
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers[.contentType] == "application/problem+json")
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(response.headers[.xContentTypeOptions] == "nosniff")
        #expect(response.headers[.retryAfter] == "7")
        #expect(response.headers[.vary] == "Accept")
        let body = try await response.text()
        let document = try JSONDecoder().decode(Problem.Document.self, from: Data(body.utf8))
        #expect(document == problem.document(requestID: "7"))
        #expect(document.type == "/problems/unavailable" && document.status == 503)
        #expect(document.instance == "urn:request:7" && document.detail == "Later.")
        #expect(!body.contains("parameter"))
    }

    @Test(arguments: [
        "plain", "", "\"quoted\" \\ / and </script>", "caf\u{e9} \u{1f4f7} \u{2028}",
        String(String.UnicodeScalarView((0..<0x90).compactMap(Unicode.Scalar.init))),
    ])
    func `The document has the bytes that an encoder would write`(text: String) {
        var problem = Problem(.unavailable, text)
        #expect(problem.json(requestID: "7") == .json(problem.document(requestID: "7")))
        problem.parameter = text
        #expect(problem.json(requestID: text) == .json(problem.document(requestID: text)))
    }

    @Test(arguments: [
        "a%0D%0ASet-Cookie:b", "<script>", "\"'&", String(repeating: "M", count: 10_000),
    ])
    func `A foreign method is truncated in the problem`(method: String) throws {
        guard let method = HTTPRequest.Method(method) else { return }
        let problem = Problem.methodNotAllowed(method, allow: [.get, .head])
        #expect(problem.detail.utf8.count < 200)
        #expect(problem.detail.contains("GET, HEAD"))
    }

    @Test func `Special characters in a page's title are escaped`() {
        let page = HTMLPage(title: #"<script>"&'</script>"#, body: "")
        #expect(!page.html.contains("<script>"))
        #expect(page.html.contains("<h1>&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;</h1>"))
        // A combining mark forms one character with the quote before it.
        #expect("\"\u{301}".htmlEscaped == "&quot;\u{301}")
    }

    @Test func `A page of a problem has the header fields of the problem`() async throws {
        let problem = Problem(.unavailable, "Later.", retryAfterSeconds: 7)
        let page = problem.response(requestID: "7", asPage: true)
        for field in problem.headerFields where field.name != .contentType {
            #expect(page.headers[values: field.name] == [field.value])
        }
        #expect(page.status == .serviceUnavailable)
    }
}

extension Problem {
    /// The response to the request with this id, without the fields that every response has.
    fileprivate func response(requestID: String, asPage: Bool = false) -> Response {
        let (fields, body) = content(requestID: requestID, base: "", asPage: asPage)
        return Response(status: kind.status, headers: fields, body: ResponseBody(byteBuffer: body))
    }
}
