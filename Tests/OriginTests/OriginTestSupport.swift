import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Synchronization
import TestOrigin
import Testing

@testable import Origin

/// Answers from a table; the n-th question for a name gets its n-th answer, the last one for ever.
final class ScriptedResolver: NameResolver {
    private let table: [String: [[String]]]
    private let asked = Mutex<[String]>([])

    init(_ table: [String: [[String]]] = [:]) { self.table = table }

    var questions: [String] { asked.withLock { $0 } }

    func addresses(of name: String) async throws(OriginError) -> [IPAddress] {
        let earlier = asked.withLock { asked in
            defer { asked.append(name) }
            return asked.count { $0 == name }
        }
        guard let answers = table[name], !answers.isEmpty else { throw .unreachable(.dns) }
        return answers[min(earlier, answers.count - 1)].compactMap(IPAddress.init)
    }
}

extension GuardedHTTPClient.Settings {
    /// Loopback allowed, so that a test origin can be asked; its port is exempt with it.
    static func loopback(_ change: (inout Self) -> Void = { _ in }) throws -> Self {
        var settings = Self()
        settings.addresses = AddressPolicy(allowNetworks: [try CIDR(parsing: "127.0.0.0/8")])
        change(&settings)
        return settings
    }
}

/// Runs a test origin and a client for it, and ends both.
func withOrigin(
    _ settings: GuardedHTTPClient.Settings? = nil, resolver: any NameResolver = ScriptedResolver(),
    script: @escaping @Sendable (TestOrigin.Request) -> [TestOrigin.Step],
    _ body: (GuardedHTTPClient, TestOrigin) async throws -> Void
) async throws {
    let origin = TestOrigin(script: script)
    try await origin.start()
    let client = GuardedHTTPClient(
        settings: try settings ?? .loopback(), resolver: resolver,
        eventLoopGroup: MultiThreadedEventLoopGroup.singleton, jitter: { .zero })
    let result: Result<Void, any Error>
    do { result = .success(try await body(client, origin)) } catch { result = .failure(error) }
    await client.shutdown()
    try await origin.stop()
    try result.get()
}

extension TestOrigin {
    func url(_ target: String = "/", host: String = "127.0.0.1", scheme: String = "http") throws -> SourceURL {
        try SourceURL(parsing: "\(scheme)://\(host):\(port)\(target)")
    }
}

extension OriginFetching {
    func fetch(_ url: SourceURL, headers: HTTPFields = [:]) async throws(OriginError) -> OriginResponse {
        try await fetch(OriginRequest(url: url, headers: headers))
    }

    /// The error that fetching ends with, or nil if it does not.
    func failure(of url: SourceURL) async -> OriginError? {
        do throws(OriginError) {
            _ = try await fetch(url)
            return nil
        } catch {
            return error
        }
    }
}

/// The reference data that may lie beside the repository.
enum Corpus {
    static let folder: URL? = {
        let beside = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../shared/corpus")
        let folder = ProcessInfo.processInfo.environment["DARKROOM_CORPUS"].map { URL(filePath: $0) } ?? beside
        return FileManager.default.fileExists(atPath: folder.path) ? folder.standardizedFileURL : nil
    }()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: #require(folder).appending(path: path), encoding: .utf8)
    }
}
