import NIOCore
import Testing

@testable import DarkroomHTTPServer

/// Bodies that wait to be asked for, and bodies that nobody reads.
@Suite(.timeLimit(.minutes(5)))
struct RequestBodyTests {
    private static let json = "Host: x\r\nContent-Type: application/json\r\n"

    @Test func `A client that waits is asked for the body by the endpoint that reads it`() async throws {
        try await withServer { address in
            let client = try await WireClient.connected(to: address)
            for _ in 0..<2 {
                try await client.send(
                    "POST /upload HTTP/1.1\r\n\(Self.json)Expect: 100-Continue\r\nContent-Length: 2\r\n\r\n")
                #expect(await client.received(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                try await client.send("{}")
                let response = await client.received(until: "}")
                #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(!response.lowercased().contains("connection: close"))
            }
            try await client.close()
        }
    }

    @Test(arguments: [
        "Content-Length: 2\r\n\r\n{}", "Content-Length: 0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ])
    func `A client that does not wait, or has no body, gets the response alone`(rest: String) async throws {
        try await withServer { address in
            let client = try await WireClient.connected(to: address)
            try await client.send("POST /upload HTTP/1.1\r\n\(Self.json)Expect: 100-continue\r\n\(rest)")
            let response = await client.received(until: "}")
            #expect(
                response.hasPrefix("HTTP/1.1 200 OK\r\n")
                    || response.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"))
            try await client.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(await client.received(until: "}").hasPrefix("HTTP/1.1 200 OK\r\n"))
            try await client.close()
        }
    }

    @Test(arguments: ["Content-Length: 9999", "Transfer-Encoding: chunked"])
    func `A body that is refused before it was asked for ends the connection`(framing: String) async throws {
        try await withServer { address in
            let client = try await WireClient.connected(to: address)
            try await client.send("POST /refuse HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\(framing)\r\n\r\n")
            let all = await client.receivedAll()
            #expect(all.hasPrefix("HTTP/1.1 429 "))
            #expect(all.lowercased().contains("\r\nconnection: close\r\n"))
            #expect(!all.contains("100 Continue"))
        }
    }

    @Test func `A refused request behind another one ends the connection after both responses`() async throws {
        try await withServer { address in
            let client = try await WireClient.connected(to: address)
            try await client.send(
                "GET /item HTTP/1.1\r\nHost: x\r\n\r\nPOST /refuse HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                    + "Content-Length: 5\r\n\r\n")
            let all = await client.receivedAll()
            #expect(all.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(all.contains("HTTP/1.1 429 "))
        }
    }

    @Test(arguments: ["", "Connection: close\r\n"])
    func `The rest of a body is read after its response`(connection: String) async throws {
        try await withServer { address in
            let client = try await WireClient.connected(to: address)
            let length = 8 << 20
            try await client.send("POST /refuse HTTP/1.1\r\nHost: x\r\n\(connection)Content-Length: \(length)\r\n\r\n")
            #expect(await client.received(until: "}").hasPrefix("HTTP/1.1 429 "))
            // Far more than the sockets hold: this suspends until the server has read it.
            if connection.isEmpty {
                try await client.send(String(repeating: "x", count: length))
                try await client.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(await client.received(until: "}").hasPrefix("HTTP/1.1 200 OK\r\n"))
                try await client.close()
            } else {
                client.trySending(String(repeating: "x", count: length))
                #expect(await client.receivedAll() == "")
            }
        }
    }
}
