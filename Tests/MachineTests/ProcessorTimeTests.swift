import Testing

@testable import DarkroomMachine

@Suite struct ProcessorTimeTests {
    @Test func `The time of this process grows while it computes`() throws {
        let before = try #require(ProcessorTime.ofThisProcess)
        var after = before
        while after - before < .milliseconds(1) { after = try #require(ProcessorTime.ofThisProcess) }
        #expect(before > .zero && after < .seconds(86_400))
    }
}
