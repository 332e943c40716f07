import DarkroomNetwork
import NIOPosix
import Testing

@testable import DarkroomOrigin

struct PinnedClientsTests {
    private func key(_ host: String) -> PinnedClients.Key {
        PinnedClients.Key(host: .name(host), address: .v4(0x7f00_0001))
    }

    /// Room for two clients.
    private func makeClients() -> PinnedClients {
        var settings = GuardedHTTPClient.Settings()
        settings.maxDownloads = 1
        return PinnedTransport.makeClients(settings: settings, eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
    }

    @Test func `A host at an address keeps its client`() async throws {
        let clients = makeClients()
        let first = try #require(await clients.withClient(for: key("a")) { ObjectIdentifier($0) })
        #expect(await clients.withClient(for: key("a")) { ObjectIdentifier($0) } == first)
        #expect(await clients.withClient(for: key("b")) { ObjectIdentifier($0) } != first)
        await clients.shutdown()
    }

    @Test func `The least recently used client makes room`() async throws {
        let clients = makeClients()
        let first = try #require(await clients.withClient(for: key("a")) { ObjectIdentifier($0) })
        for host in ["b", "a", "c"] { await clients.withClient(for: key(host)) { _ in } }
        #expect(clients.count == 2)
        #expect(await clients.withClient(for: key("a")) { ObjectIdentifier($0) } == first)
        await clients.shutdown()
    }

    @Test func `A client in use is never retired`() async {
        let clients = makeClients()
        await clients.withClient(for: key("a")) { _ in
            await clients.withClient(for: key("b")) { _ in
                await clients.withClient(for: key("c")) { _ in
                    #expect(clients.count == 3)
                }
            }
        }
        await clients.withClient(for: key("d")) { _ in }
        #expect(clients.count == 2)
        await clients.shutdown()
    }

    @Test func `After shutdown no client is lent`() async {
        let clients = makeClients()
        await clients.shutdown()
        #expect(await clients.withClient(for: key("a")) { _ in true } == nil)
    }

    @Test func `Clients are shut down with their table, even without a call to shutdown`() async {
        let clients = makeClients()
        await clients.withClient(for: key("a")) { _ in }
    }
}
