import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// The least that a hit can cost a server with SwiftNIO's own HTTP pipeline: each request gets the same response.
///
/// `bare BODY FIELDS` prints its address. `BODY` is a file with the bytes of the response, `FIELDS` one with a line
/// `Name: value` for each field of its head.
@main
enum Bare {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { throw CocoaError(.fileNoSuchFile) }
        let body = ByteBuffer(bytes: try Data(contentsOf: URL(filePath: arguments[1])))
        let fields = HTTPHeaders(
            try String(contentsOfFile: arguments[2], encoding: .utf8).split(separator: "\n").compactMap { line in
                line.firstRange(of: ": ").map { (String(line[..<$0.lowerBound]), String(line[$0.upperBound...])) }
            })
        let server = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answers(fields: fields, body: body))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        let port = server.localAddress?.port ?? 0
        FileHandle.standardOutput.write(Data("http://127.0.0.1:\(port)\n".utf8))
        try server.closeFuture.wait()
    }
}

private final class Answers: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let fields: HTTPHeaders
    private let body: ByteBuffer
    private var keepsAlive = true

    init(fields: HTTPHeaders, body: ByteBuffer) {
        self.fields = fields
        self.body = body
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): keepsAlive = head.isKeepAlive
        case .body: break
        case .end:
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: fields)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            let sent = context.writeAndFlush(wrapOutboundOut(.end(nil)))
            if !keepsAlive {
                let channel = context.channel
                sent.whenComplete { _ in channel.close(promise: nil) }
            }
        }
    }
}
