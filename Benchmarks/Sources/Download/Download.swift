import DarkroomMachine
import Foundation
import NIOCore

/// The least that a cache miss can cost a server apart from the image itself: receives an original from an origin on
/// this machine, hashes it, writes it to a memory file, and answers with as many bytes as a small image has.
///
/// `download` prints its address. `GET /?url=http://127.0.0.1:PORT/PATH` downloads that URL. The answer has 18,000
/// bytes, all of them zero.
/// Each of its threads serves one connection at a time, with a connection to the origin that is kept open meanwhile.
@main
enum Download {
    static func main() throws {
        signal(SIGPIPE, SIG_IGN)
        let listener = try Socket.listening()
        FileHandle.standardOutput.write(Data("http://127.0.0.1:\(try listener.port())\n".utf8))
        for _ in 1...threads { Thread { while let client = try? listener.accept() { try? serve(client) } }.start() }
        while true { pause() }
    }

    /// They never end, so that the kernel's counters of each remain.
    private static let threads = 16

    private static func serve(_ client: Socket) throws {
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 18000\r\n\r\n".utf8) + Array(repeating: 0, count: 18_000)
        var origin: Socket?
        while let head = try client.head() {
            guard let address = head.text.firstMatch(of: /url=http:\/\/127\.0\.0\.1:(\d+)(\S+)/),
                let port = UInt16(address.1)
            else { throw CocoaError(.fileReadInvalidFileName) }
            if origin == nil { origin = try Socket.connected(to: port) }
            let bytes = try origin?.get(String(address.2))
            precondition(bytes?.digest != nil)
            try client.send(answer)
        }
    }
}

/// A blocking TCP socket on the loopback interface.
private final class Socket: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) throws {
        self.descriptor = try Self.checked(descriptor)
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    private static func checked<Number: BinaryInteger>(_ result: Number) throws -> Number {
        guard result >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return result
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func withAddress(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws {
        var address = loopback(port)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = try withUnsafePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { try checked(body($0, size)) }
        }
    }

    private static func tcp() throws -> Socket { try Socket(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)) }

    static func listening() throws -> Socket {
        let socket = try tcp()
        try withAddress(0) { bind(socket.descriptor, $0, $1) }
        _ = try checked(listen(socket.descriptor, 128))
        return socket
    }

    static func connected(to port: UInt16) throws -> Socket {
        let socket = try tcp()
        try withAddress(port) { connect(socket.descriptor, $0, $1) }
        return socket
    }

    func port() throws -> UInt16 {
        var (address, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        _ = try withUnsafeMutablePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try Self.checked(getsockname(descriptor, $0, &size))
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    func accept() throws -> Socket { try Socket(Foundation.accept(descriptor, nil, nil)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            sent += try bytes.withUnsafeBytes {
                try Self.checked(write(descriptor, $0.baseAddress! + sent, bytes.count - sent))
            }
        }
    }

    private func receive(_ buffer: inout ByteBuffer, atMost count: Int) throws -> Int {
        try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) {
            try Self.checked(read(descriptor, $0.baseAddress, count))
        }
    }

    /// The head of a message, and the bytes that were received after it; nil at the end of the connection.
    func head() throws -> (text: String, rest: ByteBuffer)? {
        var buffer = ByteBuffer()
        while try receive(&buffer, atMost: 64 << 10) > 0 {
            guard let end = buffer.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            let text = buffer.readString(length: end.upperBound - buffer.readerIndex) ?? ""
            return (text, buffer)
        }
        return nil
    }

    /// The body of an origin's response, which must state its length.
    func get(_ path: String) throws -> SharedBytes {
        try send(Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
        guard let head = try head(), head.text.hasPrefix("HTTP/1.1 200"),
            let length = head.text.firstMatch(of: /(?i)content-length: *(\d+)/).flatMap({ Int($0.1) })
        else { throw POSIXError(.EPROTO) }
        var body = SharedBytesWriter(expectedBytes: length)
        body.append(head.rest)
        var part = ByteBuffer()
        while body.count < length {
            part.clear()
            guard try receive(&part, atMost: min(256 << 10, length - body.count)) > 0 else { throw POSIXError(.EPIPE) }
            body.append(part)
        }
        return body.finish()
    }
}
