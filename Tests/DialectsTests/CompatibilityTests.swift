import DarkroomDialects
import DarkroomQuery
import Testing

struct CompatibilityTests {
    @Test
    func `only wsrv changes how queries are read`() {
        for compatibility in Compatibility.allCases {
            #expect(compatibility.queryDialect == (compatibility == .wsrv ? .wsrv : .darkroom))
        }
    }
}
