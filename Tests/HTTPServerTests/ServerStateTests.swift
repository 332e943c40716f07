import Testing

@testable import DarkroomHTTPServer

struct ServerStateTests {
    @Test func `requests count from beginning to end, also while the server drains`() {
        let state = ServerState()
        state.beginRequest()
        state.beginRequest()
        #expect(!state.isDraining)
        state.startDraining()
        #expect(state.isDraining)
        state.endRequest()
        #expect(state.inFlightRequests == 1)
    }

    @Test func `a server that starts is ready once it has finished starting`() {
        let state = ServerState(isStarting: true)
        #expect(state.isStarting)
        state.finishStarting()
        #expect(!state.isStarting)
    }
}
