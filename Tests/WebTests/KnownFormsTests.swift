import DarkroomRequests
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// Queries that differ in their source alone are read once.
struct KnownFormsTests {
    private let forms = KnownForms()
    private let grammar = ImageQueryGrammar()

    private static let queries = [
        "url=http://a/1&w=200", "w=200&url=http://a/1", "url=http://a/1&w=201", "url=http://a/2&w=200&output=webp",
        "url=s3://b/k&text=%C3%A9", "url=s3://b/k&text=e%CC%81", "url=http://a/1", "url=http://a/1&flip",
        "url=http://a/1&flip=true", "url=a%26w%3D3", "url=a&w=3", "url=a&v=b%26w%3D3", "url=a&v=b&w=3",
    ]

    @Test func `A query means the same, whatever was read before`() throws {
        for number in 0..<3 {
            for text in Self.queries {
                let text = number == 0 ? text : text.replacing("url=", with: "url=\(number)")
                let query = try QueryString(parsing: text)
                let (found, expected) = (try forms.query(query, grammar), try grammar.parse(query))
                #expect(found == expected, "\(text)")
                // Texts of other bytes may be equal in Unicode.
                let texts = [found, expected].map { Array($0.recipe.text?.text.utf8 ?? "".utf8) }
                #expect(texts[0] == texts[1])
            }
        }
    }

    @Test(arguments: ["w=200", "url=&w=200", "url&w=200", "url=a&w=200&url=b", "url=a&w=-1", "url=a&w=200&x=1"])
    func `A query that is refused is refused again, whatever was read before`(text: String) throws {
        _ = try forms.query(QueryString(parsing: "url=a&w=200"), grammar)
        for _ in 1...2 {
            let query = try QueryString(parsing: text)
            let expected = #expect(throws: InvalidParameter.self) { try grammar.parse(query) }
            let error = #expect(throws: InvalidParameter.self) { try forms.query(query, grammar) }
            #expect(error == expected)
        }
    }

    @Test func `A query of another service is read with its source`() throws {
        let wsrv = ImageQueryGrammar(dialect: .wsrv)
        for source in ["a.example/1", "ssl:a.example/2", "a.example/3"] {
            let query = try QueryString(parsing: "url=\(source)&w=200&t=square")
            #expect(try forms.query(query, wsrv) == wsrv.parse(query))
        }
    }
}
