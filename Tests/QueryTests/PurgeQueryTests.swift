import DarkroomRequests
import Testing

@testable import DarkroomQuery

struct PurgeQueryTests {
    private let grammar = PurgeGrammar()

    @Test(arguments: [
        ("host=Example.com&soft", PurgeQuery.Scope.host("example.com")), ("tag=a%20b&dry_run", .tag("a b")),
        ("all&tier=memory", .all(.memory)), ("all", .all(.all)), ("expired=true&all=false", .expired),
        ("prefix=https://example.com/a", .prefix("https://example.com/a")), ("url=x", .url("x")),
        ("prefix=s3://media/a", .prefix("s3://media/a")), ("prefix=shop:a", .prefix("shop:a")),
        ("prefix=shop:", .prefix("shop:")),
    ])
    func `One parameter says what is removed`(query: String, scope: PurgeQuery.Scope) throws {
        #expect(try grammar.parse(query).scope == scope)
    }

    @Test(arguments: [
        ("", nil, "Exactly one of url, prefix, host, tag, all=true and expired=true must be given."),
        (
            "all&host=a", "all",
            "Exactly one of url, prefix, host, tag, all=true and expired=true must be given."
        ),
        ("host=a&tier=disk", "tier", "Parameter 'tier' requires all=true."),
        ("expired&soft", "soft", "Parameter 'soft' cannot be combined with 'expired'."),
        ("all&w=1", "w", "There is no parameter 'w'."),
    ])
    func `A query that contradicts itself is refused`(query: String, parameter: String?, detail: String) {
        let error = #expect(throws: InvalidParameter.self) { try grammar.parse(query) }
        #expect(error?.detail == detail)
        #expect(error?.parameter == (query.hasPrefix("all&host") ? "all" : parameter))
    }

    @Test func `Entries are listed of one source`() throws {
        #expect(try EntriesGrammar().parse("url=https%3A%2F%2Fa.org%2F") == "https://a.org/")
        let error = #expect(throws: InvalidParameter.self) { try EntriesGrammar().parse("") }
        #expect(error?.parameter == "url")
    }
}
