import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import Foundation
import HTTPTypes
import NIOCore
import Synchronization

@testable import DarkroomLoading
@testable import DarkroomPipeline

/// A fake pipeline: returns an image for every request once its gate is open, and records the requests.
final class FakePictures: Sendable {
    private struct State {
        var asked: [ImageRequest] = []
        var errors: [String: [PipelineError]] = [:]
        var underWay = 0
        var most = 0
    }

    let gate: Gate
    private let state = Watched(State())

    init(gate: Gate = .opened) {
        self.gate = gate
    }

    var asked: [ImageRequest] { state.value.asked }
    /// The requested paths.
    var paths: [String] { asked.map(\.source.path) }
    /// The most requests in progress at once.
    var most: Int { state.value.most }

    /// Returns once the last requested paths are these, in any order.
    func haveLast(_ paths: Set<String>) async {
        await state.wait { Set($0.asked.suffix(paths.count).map(\.source.path)) == paths }
    }

    /// Makes the next requests for a path fail with these errors, one after the other.
    func fail(_ path: String, _ errors: PipelineError...) { state.change { $0.errors[path] = errors } }

    @Sendable func load(_ request: ImageRequest) async throws(PipelineError) -> ImageResponse {
        state.change { state in
            state.asked.append(request)
            state.underWay += 1
            state.most = max(state.most, state.underWay)
        }
        defer { state.change { $0.underWay -= 1 } }
        guard await gate.pass() else { throw .cancelled }
        let error = state.change { state in
            state.errors[request.source.path].flatMap { $0.isEmpty ? nil : $0 }.map { errors in
                state.errors[request.source.path] = Array(errors.dropFirst())
                return errors[0]
            }
        }
        if let error { throw error }
        return .ofTenBytes
    }
}

extension Gate {
    /// An open gate.
    static var opened: Gate {
        let gate = Gate()
        gate.open()
        return gate
    }
}

extension ImageResponse {
    fileprivate static var ofTenBytes: ImageResponse {
        let stored = StoredResponse(
            status: 200, fields: [:], sent: [:], requestedAt: WallClock.start, receivedAt: WallClock.start)
        return ImageResponse(
            body: ByteBuffer(repeating: 0, count: 10), format: .png, size: PixelSize(width: 1, height: 1),
            sourceBytes: 100, digest: "", age: .zero, remaining: .zero,
            cachePolicy: ClientCachePolicy(stored, policy: FreshnessPolicy()), cache: CacheReport(), timings: Timings())
    }
}

extension PrefetchItem {
    /// An item with the path as its label.
    static func example(_ path: String) throws -> PrefetchItem {
        PrefetchItem(try ImageRequest(url: "http://example.com\(path)"), label: path)
    }
}

extension PrefetchJob {
    /// The last progress of a job.
    func finished() async -> PrefetchProgress? {
        var last: PrefetchProgress?
        for await progress in updates { last = progress }
        return last
    }
}
