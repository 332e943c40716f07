import NIOCore
import Testing

@testable import DarkroomHTTPServer

struct ServerStateTests {
    @Test func `Requests count from beginning to end, also while the server drains`() {
        let state = ServerState()
        state.beginRequest()
        state.beginRequest()
        #expect(!state.isDraining)
        state.startDraining()
        #expect(state.isDraining)
        state.endRequest()
        #expect(state.inFlightRequests == 1)
    }

    @Test func `Connections and unsent responses count as memory until they end`() async throws {
        let state = ServerState()
        try await withServer(state: state) { address in
            let clients = [try await WireClient.connected(to: address), try await WireClient.connected(to: address)]
            for client in clients {
                try await client.send("GET /item HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = await client.received(until: "bytes")
            }
            #expect(state.transientBytes == 2 * ServerState.connectionBytes)
            let reader = UnsentBytes.Reader(client: nil) {}
            let buffer = UnsentBytes.Buffer(ByteBuffer(repeating: 7, count: 1_000))
            state.unsent.update(reader, holding: [buffer], until: .now() + .seconds(60))
            #expect(state.transientBytes == 2 * ServerState.connectionBytes + 1_000)
            state.unsent.remove(reader)
            for client in clients { try await client.close() }
        }
        // The last connections are about to be counted.
        while state.transientBytes > 0 { await Task.yield() }
    }

    @Test func `A server that starts is ready once it has finished starting`() {
        let state = ServerState(isStarting: true)
        #expect(state.isStarting)
        state.finishStarting()
        #expect(!state.isStarting)
    }
}
