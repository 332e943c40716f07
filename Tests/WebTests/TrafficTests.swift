import Testing

@testable import DarkroomWeb

struct TrafficTests {
    @Test func `requests count from their beginning to their end, also when the server goes down`() {
        let serverState = ServerState()
        serverState.begin()
        serverState.begin()
        #expect(!serverState.isDraining)
        serverState.startDraining()
        #expect(serverState.isDraining)
        serverState.end()
        #expect(serverState.inFlightRequests == 1)
    }
}
