import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix

/// One answer of the server, read to its end.
struct Answer: Sendable {
    var status: Int
    var fields: HTTPHeaders
    var body: ByteBuffer

    subscript(_ field: String) -> String? { fields.first(name: field) }

    /// A problem document (RFC 9457), where it is one.
    var problem: Problem? {
        guard self["content-type"] == "application/problem+json" else { return nil }
        return try? JSONDecoder().decode(Problem.self, from: body)
    }

    struct Problem: Decodable, Equatable {
        var type: String
        var title: String
        var status: Int
        var detail: String?
        var parameter: String?
        var instance: String?
    }
}

/// An HTTP client of a server under test.
enum Client {
    /// Whether connections to the server are refused.
    static func isRefused(at base: String) async -> Bool {
        let url = URL(string: base)
        let socket = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: url?.host ?? "", port: url?.port ?? 0).get()
        try? await socket?.close()
        return socket == nil
    }

    static func get(
        _ url: String, method: HTTPMethod = .GET, fields: [(String, String)] = []
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = HTTPHeaders(fields)
        let response = try await HTTPClient.shared.execute(request, timeout: .minutes(4))
        return Answer(
            status: Int(response.status.code), fields: response.headers,
            body: try await response.body.collect(upTo: 64 << 20))
    }
}

extension DarkroomProcess {
    /// `GET /image` for a source with further parameters.
    func image(
        _ source: String, _ query: String = "", method: HTTPMethod = .GET, fields: [(String, String)] = []
    ) async throws -> Answer {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~:/")
        let encoded = source.addingPercentEncoding(withAllowedCharacters: allowed) ?? source
        let rest = query.isEmpty ? "" : "&\(query)"
        return try await Client.get("\(base)/image?url=\(encoded)\(rest)", method: method, fields: fields)
    }
}
