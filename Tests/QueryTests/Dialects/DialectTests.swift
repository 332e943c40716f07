import DarkroomRequests
import Testing

@testable import DarkroomQuery

struct DialectTests {
    @Test
    func `Only wsrv changes how queries are read`() throws {
        for dialect in Dialect.allCases {
            #expect(dialect.queryDialect == (dialect == .wsrv ? .wsrv : .darkroom))
            let query = try QueryString(parsing: "url=x.org&compat=\(dialect.rawValue)")
            #expect(Dialect.of(query, standard: .wsrv) == dialect.queryDialect)
        }
    }
}
