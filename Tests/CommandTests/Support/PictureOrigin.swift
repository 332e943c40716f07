import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A loopback origin with HTTP caching: images by path, each with its header fields, and 304 for a matching `If-None-Match`.
final class PictureOrigin: Sendable {
    /// The response for a path.
    struct Answer: Sendable {
        var status = "200 OK"
        var fields: [String] = []
        var body: ByteBuffer

        /// One of the fixtures.
        static func picture(_ name: String = "sample.jpg", _ fields: String...) throws -> Answer {
            let url = URL.fixtures.appendingPathComponent(name)
            return Answer(fields: fields, body: ByteBuffer(bytes: try Data(contentsOf: url)))
        }

        static func status(_ status: String, _ fields: String...) -> Answer {
            Answer(status: status, fields: fields, body: ByteBuffer(string: "no picture"))
        }
    }

    let origin: TestOrigin
    private let table: Table

    init(_ answer: Answer) async throws {
        let table = Table(answer)
        origin = TestOrigin { request in table.steps(for: request) }
        self.table = table
        try await origin.start()
    }

    /// Addresses of this origin.
    func url(_ path: String = "/a.jpg") -> String { "http://127.0.0.1:\(origin.port)\(path)" }

    var requests: [TestOrigin.Request] { origin.requests }
    var count: Int { origin.requests.count }

    /// Waits for the next request that no earlier call has returned for.
    func nextRequest() async {
        for await _ in origin.arrivals { return }
    }

    /// Sets the response for every path without a response of its own.
    func answer(_ answer: Answer) { table.set("*", answer) }

    func answer(_ path: String, _ answer: Answer) { table.set(path, answer) }

    /// Holds every further response until the future completes.
    func hold(until future: EventLoopFuture<Void>?) { table.hold(future) }
}

private final class Table: Sendable {
    private let answers: Mutex<[String: PictureOrigin.Answer]>
    private let gate = Mutex<EventLoopFuture<Void>?>(nil)

    init(_ answer: PictureOrigin.Answer) {
        answers = Mutex(["*": answer])
    }

    func set(_ path: String, _ answer: PictureOrigin.Answer) { answers.withLock { $0[path] = answer } }
    func hold(_ future: EventLoopFuture<Void>?) { gate.withLock { $0 = future } }

    func steps(for request: TestOrigin.Request) -> [TestOrigin.Step] {
        let answer = answers.withLock { $0[request.target] ?? $0["*"] }
        let wait = gate.withLock { $0 }.map { [TestOrigin.Step.wait($0)] } ?? []
        guard let answer else { return wait + [.respond("404 Not Found")] }
        let tag = answer.fields.first { $0.hasPrefix("ETag: ") }?.dropFirst(6)
        if let tag, request.fields["if-none-match"].map({ $0 == tag }) ?? false {
            let head = (["HTTP/1.1 304 Not Modified"] + answer.fields).joined(separator: "\r\n")
            return wait + [.send(head + "\r\n\r\n")]
        }
        let head = ["HTTP/1.1 \(answer.status)", "Content-Length: \(answer.body.readableBytes)"] + answer.fields
        var bytes = ByteBuffer(string: head.joined(separator: "\r\n") + "\r\n\r\n")
        bytes.writeImmutableBuffer(answer.body)
        return wait + [.sendBytes(bytes)]
    }
}
