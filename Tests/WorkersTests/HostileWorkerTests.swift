import DarkroomCMemory
import DarkroomCSandbox
import DarkroomMachine
import DarkroomTransforms
import Foundation
import NIOCore
import Testing

@testable import DarkroomWorkers

/// A compromised worker may send anything; nothing that it sends may harm the server.
@Suite(.timeLimit(.minutes(2)), .enabled(if: WorkerSite.isSupported))
struct HostileWorkerTests {
    private static let image =
        #"{"image":{"_0":{"format":"png","width":1,"height":1,"frames":1,"sourceFormat":"png","isProven":true}}}"#
    private static let decoded = #"{"entries":0,"bytes":0,"hits":0,"misses":0}"#

    static let replies = [
        "nonsense", "{}", #"{"outcome":{"done":{}},"decoded":\#(decoded)}"#,
        // A picture without its bytes.
        #"{"outcome":\#(image),"decoded":\#(decoded)}"#,
        // Numbers that would overflow a sum.
        #"{"outcome":{"done":{}},"decoded":{"entries":0,"bytes":9223372036854775807,"hits":0,"misses":0}}"#,
    ]

    @Test(arguments: replies)
    func `A worker that says what no worker says is replaced`(reply: String) async throws {
        let site = try await WorkerSite(try .script("hello; take; printf '%s' '\(reply)' >&3; take"))
        #expect(throws: ImageProcessingError.corrupt("decoding corrupted a worker: its reply violated the protocol")) {
            try site.processor.process(.drawing()) { false }
        }
        #expect(site.processor.statistics.ended == [.protocolViolation: 1])
    }

    @Test func `A worker that hangs up and stays is killed`() async throws {
        let site = try await WorkerSite(try .script("hello; take; exec 3>&-; exec 3<&-; exec sleep 1000"))
        #expect(throws: ImageProcessingError.self) { try site.processor.process(.drawing()) { false } }
        #expect(site.processor.statistics.ended[.crashed] == 3)
    }

    @Test func `Bytes that end a worker when their header is read are refused at once when they are to be decoded`()
        async throws
    {
        let site = try await WorkerSite(try .script("hello; take"))
        let error = try #require(throws: ImageProcessingError.self) {
            try site.processor.plan(.drawing()) { false }
        }
        #expect(throws: error) { try site.processor.process(.drawing()) { false } }
        #expect(site.processor.statistics.refused == 1)
    }

    @Test func `A header that is read indefinitely is given up with the request`() async throws {
        let site = try await WorkerSite(try .script("hello; take; take; exec sleep 1000"))
        #expect(throws: ImageProcessingError.interrupted) { try site.processor.plan(.drawing()) { true } }
    }

    private func sockets() throws -> (MessageSocket, MessageSocket) {
        var pair: [Int32] = [-1, -1]
        #expect(darkroom_socket_pair(&pair) == 0)
        return (MessageSocket(descriptor: pair[0]), MessageSocket(descriptor: pair[1]))
    }

    @Test func `Memory comes through unchanged`() throws {
        let (here, there) = try sockets()
        defer {
            close(here.descriptor)
            close(there.descriptor)
        }
        let bytes = ByteBuffer(bytes: (0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        try here.send(["a"], with: try MemoryFile(copying: bytes))
        let (message, memory) = try there.receive([String].self)
        #expect(message == ["a"])
        #expect(memory?.buffer == bytes)
        #expect(write(try #require(memory).descriptor, [1], 1) < 0)
    }

    @Test func `Memory that could still change, or is none, is not looked at`() throws {
        let (here, there) = try sockets()
        defer {
            close(here.descriptor)
            close(there.descriptor)
        }
        for file in [darkroom_memory_file(), Foundation.open("/dev/zero", O_RDONLY)] {
            #expect(darkroom_send(here.descriptor, "[]", 2, file) == 0)
            close(file)
            #expect(throws: WireError.malformed) { try there.receive([String].self) }
        }
    }

    @Test func `A message that is too long is none`() throws {
        let (here, there) = try sockets()
        defer { close(here.descriptor) }
        let long = [UInt8](repeating: 0x20, count: MessageSocket.maxMessageBytes + 1)
        #expect(write(there.descriptor, long, long.count) == long.count)
        #expect(throws: WireError.malformed) { try here.receive([String].self) }
        #expect(throws: WireError.malformed) {
            try here.send(String(repeating: "a", count: MessageSocket.maxMessageBytes))
        }
        close(there.descriptor)
        #expect(throws: WireError.closed) { try here.receive([String].self) }
        #expect(throws: WireError.closed) { try here.send("a") }
    }

    @Test func `A picture is only what was wanted`() throws {
        let job = ImageJob.drawing(format: .png)
        let body = ByteBuffer(string: "bytes")
        let size = PixelSize(width: 1, height: 1)
        let honest = ProcessedImage(body: body, format: .png, size: size, frames: 1, sourceFormat: .svg)
        #expect(WireImage(honest).image(body, of: job) != nil)
        var other = WireImage(honest)
        other.format = .json
        #expect(other.image(body, of: job) == nil)
        var natural = job
        natural.output = OutputOptions()
        #expect(other.image(body, of: natural) == nil)
        for change in [\WireImage.width, \.height, \.frames] {
            var wrong = WireImage(honest)
            wrong[keyPath: change] = 0
            #expect(wrong.image(body, of: job) == nil)
        }
    }

    @Test func `Its sentences are not longer than a sentence`() {
        let long = String(repeating: "a", count: 5000)
        guard case .tooLarge(let text) = ImageProcessingError.tooLarge(long).bounded else { return }
        #expect(text.count == 1000)
    }
}
