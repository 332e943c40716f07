import DarkroomNetwork
import Foundation
import HummingbirdCore
import NIOCore
import Synchronization
import Testing

@testable import DarkroomHTTPServer

/// Slow, silent and too many clients.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionLimitTests {
    private static let request = "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"
    private static let short = Duration.seconds(1)

    @Test(arguments: ["", "G", "GET / HTTP/1.1\r\nHost: x\r\n", request + "GET / HT"])
    func `A client that does not finish its header fields in time is disconnected`(text: String) async throws {
        try await withServer(limits: ConnectionLimits(headerTimeout: Self.short)) { address in
            let client = try await WireClient.connected(to: address)
            // On a machine that is slower than the timeout, the server may be gone already.
            if text.hasPrefix(Self.request) {
                client.trySending(Self.request)
                _ = await client.received(until: "}")
            }
            client.trySending(text.hasPrefix(Self.request) ? String(text.dropFirst(Self.request.count)) : text)
            #expect(await client.receivedAll() == "")
        }
    }

    @Test func `An idle connection is closed`() async throws {
        try await withServer(limits: ConnectionLimits(idleTimeout: Self.short)) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send(Self.request)
            #expect(await client.receivedAll().hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test(arguments: [("/upload", 400), ("/refuse", 429)])
    func `A body that times out closes the connection after its response`(path: String, status: Int) async throws {
        try await withServer(limits: ConnectionLimits(bodyTimeout: Self.short)) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send(
                "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    + "Content-Length: 100\r\n\r\n{")
            let answer = await client.receivedAll()
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"))
        }
    }

    @Test func `A client that does not read its response is disconnected, which frees its connection`() async throws {
        let body = String(repeating: "x", count: 64 << 20)
        let limits = ConnectionLimits(maxConnections: 1, writeTimeout: Self.short)
        try await withServer(limits: limits) { _ in
            .item(body)
        } use: { address in
            let client = try await WireClient.connected(to: address, isReading: false)
            try await client.send("GET /item HTTP/1.1\r\nHost: x\r\n\r\n")
            let next = try await WireClient.connected(to: address)
            try await next.send(Self.request)
            #expect(await next.received(until: "}").hasPrefix("HTTP/1.1 200"))
            try await next.close()
            try await client.close()
        }
    }

    @Test func `Connections beyond the maximum wait until another ends`() async throws {
        let asked = Mutex<[String]>([])
        try await withServer(limits: ConnectionLimits(maxConnections: 1)) { request in
            asked.withLock { $0.append(request.uri.query ?? "") }
            return .item()
        } use: { address in
            func ask(_ path: String) -> String { "GET /item?\(path) HTTP/1.1\r\nHost: x\r\n\r\n" }
            let first = try await WireClient.connected(to: address)
            try await first.send(ask("1"))
            _ = await first.received(until: "bytes")
            let second = try await WireClient.connected(to: address)
            try await second.send(ask("2"))
            for _ in 0..<20 {
                try await first.send(ask("1"))
                _ = await first.received(until: "bytes")
            }
            #expect(asked.withLock { !$0.contains("2") })
            try await first.close()
            #expect(await second.received(until: "bytes").hasPrefix("HTTP/1.1 200"))
            try await second.close()
        }
    }

    @Test func `One client cannot have all connections, and may reconnect after closing one`() async throws {
        try await withServer(limits: ConnectionLimits(maxConnectionsPerClient: 2)) { address in
            let held = [try await WireClient.connected(to: address), try await WireClient.connected(to: address)]
            for client in held {
                try await client.send(Self.request)
                #expect(await client.received(until: "}").hasPrefix("HTTP/1.1 200"))
            }
            let third = try await WireClient.connected(to: address)
            third.trySending(Self.request)
            #expect(await third.receivedAll() == "")
            try await held[0].close()
            var answer = ""
            while answer.isEmpty {
                let again = try await WireClient.connected(to: address)
                again.trySending(Self.request)
                answer = await again.received(until: "}")
                try? await again.close()
            }
            #expect(answer.hasPrefix("HTTP/1.1 200"))
            try await held[1].close()
        }
    }

    @Test func `A trusted proxy may have all connections`() async throws {
        let proxies = [try CIDR(parsing: "127.0.0.0/8")]
        try await withServer(limits: ConnectionLimits(maxConnectionsPerClient: 1), proxies: proxies) { address in
            for _ in 0..<3 {
                let client = try await WireClient.connected(to: address)
                try await client.send(Self.request)
                #expect(await client.received(until: "}").hasPrefix("HTTP/1.1 200"))
            }
        }
    }

    @Test func `The table holds only clients with connections`() throws {
        let table = ConnectionTable(maxPerClient: 2, proxies: TrustedProxies(networks: []))
        let addresses = try ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map { try #require(IPAddress($0)) }
        #expect(addresses.map(table.add) == [true, true, false])
        #expect(table.add(try #require(IPAddress("192.0.2.7"))))
        #expect(table.clientCount == 2)
        table.remove(addresses[0])
        #expect(table.add(addresses[2]))
        for address in [addresses[1], addresses[2], try #require(IPAddress("192.0.2.7"))] { table.remove(address) }
        #expect(table.clientCount == 0)
    }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM, ECONNABORTED])
    func `A connection that the system cannot accept does not end the listener`(code: CInt) async throws {
        @Sendable func fail(_ channel: any Channel) {
            for _ in 0..<3 { channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept")) }
        }
        try await withServer(onListening: fail) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send("GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(await client.receivedAll().hasPrefix("HTTP/1.1 200"))
        }
    }
}
