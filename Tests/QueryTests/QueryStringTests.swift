import Testing

@testable import DarkroomQuery

struct QueryStringTests {
    private typealias Pair = QueryString.Pair

    @Test(arguments: [
        ("", []), ("&&", []), ("a", [QueryString.Pair(name: "a")]), ("a=", [QueryString.Pair(name: "a", value: "")]),
        ("a=1&b=2", [QueryString.Pair(name: "a", value: "1"), QueryString.Pair(name: "b", value: "2")]),
        ("a=b=c", [QueryString.Pair(name: "a", value: "b=c")]), ("%61=%62", [QueryString.Pair(name: "a", value: "b")]),
        ("a=%2526", [QueryString.Pair(name: "a", value: "%26")]),
        ("a=1+1", [QueryString.Pair(name: "a", value: "1+1")]),
        ("a=%c3%A9", [QueryString.Pair(name: "a", value: "é")]),
        ("url=https://x.example/?q=1", [QueryString.Pair(name: "url", value: "https://x.example/?q=1")]),
    ])
    func `Pairs are split and decoded once, and a plus stays a plus`(text: String, pairs: [QueryString.Pair]) throws {
        #expect(try QueryString(parsing: text).pairs == pairs)
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%ff", "a=%c3", "a=%C0%80", "a=%ED%A0%80"])
    func `What is no percent-encoded UTF-8 is refused under its name`(text: String) {
        let error = #expect(throws: InvalidParameter.self) { try QueryString(parsing: text) }
        #expect(error?.parameter == "a")
    }

    @Test func `A name that cannot be decoded is refused without a name`() {
        let error = #expect(throws: InvalidParameter.self) { try QueryString(parsing: "%ff=1") }
        #expect(error != nil)
        #expect(error?.parameter == nil)
    }
}
