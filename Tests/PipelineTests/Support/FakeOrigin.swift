import Foundation
import HTTPTypes
import NIOCore
import Origin
import Synchronization
import Vips

/// An origin that answers from a table, behind a gate if it has one, and counts.
final class FakeOrigin: OriginFetching {
    let fetches = Counter()
    let cancelled = Counter()
    private let answers: Mutex<[String: Result<ByteBuffer, OriginError>]>
    private let gate: Gate?
    private let seen = Mutex<[OriginRequest]>([])

    init(_ answers: [String: Result<ByteBuffer, OriginError>], gate: Gate? = nil) {
        self.answers = Mutex(answers)
        self.gate = gate
    }

    convenience init(_ body: ByteBuffer, gate: Gate? = nil) {
        self.init(["*": .success(body)], gate: gate)
    }

    var requests: [OriginRequest] { seen.withLock { $0 } }

    func answer(_ path: String, _ answer: Result<ByteBuffer, OriginError>) {
        answers.withLock { $0[path] = answer }
    }

    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        fetches.add()
        seen.withLock { $0.append(request) }
        if let gate, await !gate.pass() {
            cancelled.add()
            throw .cancelled
        }
        let answer = answers.withLock { $0[request.url.path] ?? $0["*"] ?? .failure(.notFound(status: 404)) }
        return OriginResponse(
            url: request.url, status: .ok, headers: [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
            body: try answer.get(), requestedAt: Date(), receivedAt: Date())
    }
}

/// Pictures drawn for tests.
enum Pictures {
    /// A PNG of one colour.
    static func png(width: Int = 40, height: Int = 30, color: [UInt8] = [200, 80, 40]) throws -> ByteBuffer {
        let bytes = (0..<(width * height)).flatMap { _ in color }
        let image = try VipsImage.fromBytes(bytes, width: width, height: height, bands: 3)
            .applying("copy", ["interpretation": "srgb"])
        return try VipsSaver.png.encode(image)
    }
}
