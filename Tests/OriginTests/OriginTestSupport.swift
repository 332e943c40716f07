import DarkroomTestClock
import DarkroomTestOrigin
import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

/// Answers from a table; the n-th question for a name gets its n-th answer, the last one indefinitely.
final class ScriptedNameLookup: NameLookup {
    private let table: [String: [[String]]]
    private let asked = Mutex<[(name: String, client: String)]>([])

    init(_ table: [String: [[String]]] = [:]) { self.table = table }

    var questions: [String] { asked.withLock { $0.map(\.name) } }
    /// The clients of the questions.
    var clients: [String] { asked.withLock { $0.map(\.client) } }

    func addresses(of name: String, for client: String) async throws(OriginError) -> [IPAddress] {
        let earlier = asked.withLock { asked in
            defer { asked.append((name, client)) }
            return asked.count { $0.name == name }
        }
        guard let answers = table[name], !answers.isEmpty else { throw .unreachable(.dns) }
        return answers[min(earlier, answers.count - 1)].compactMap(IPAddress.init)
    }
}

/// Never answers.
final class HangingNameLookup: NameLookup {
    /// Yields for every question.
    let questions: AsyncStream<Void>
    private let question: AsyncStream<Void>.Continuation

    init() { (questions, question) = AsyncStream.makeStream() }

    func addresses(of name: String, for client: String) async throws(OriginError) -> [IPAddress] {
        question.yield()
        // A stream without elements or an end: only cancellation ends the wait.
        let (silence, writer) = AsyncStream<Never>.makeStream()
        for await _ in silence {}
        withExtendedLifetime(writer) {}
        throw .cancelled
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
    _ settings: GuardedHTTPClient.Settings? = nil, nameLookup: any NameLookup = ScriptedNameLookup(), tls: Bool = false,
    clock: any Clock<Duration> = ContinuousClock(), circuits: CircuitBreakerTable = .forTests(),
    script: @escaping @Sendable (TestOrigin.Request) -> [TestOrigin.Step],
    _ body: (GuardedHTTPClient, TestOrigin) async throws -> Void
) async throws {
    let origin = TestOrigin(tls: tls, script: script)
    try await origin.start()
    let client = GuardedHTTPClient(
        settings: try settings ?? .loopback(), nameLookup: nameLookup,
        eventLoopGroup: MultiThreadedEventLoopGroup.singleton, clock: clock, jitter: { .zero }, circuits: circuits,
        logger: .silent)
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

    /// Asks whether what a URL sent with an entity tag is still right.
    func revalidate(
        _ url: SourceURL, _ validators: HTTPFields = [.ifNoneMatch: "\"a\""], of validatedURL: SourceURL?
    ) async throws(OriginError) -> OriginResponse {
        try await fetch(
            OriginRequest(url: url, validators: validators, validatedURL: validatedURL?.canonical))
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

extension OriginError {
    static func notFound(_ status: Int) -> Self { .notFound(UnusableResponse(bare: status)) }
    static func unexpectedStatus(_ status: Int) -> Self { .unexpectedStatus(UnusableResponse(bare: status)) }

    /// The error without the fields and times of a refusal.
    var bare: Self {
        switch self {
        case .notFound(let refusal): .notFound(refusal.status)
        case .unexpectedStatus(let refusal): .unexpectedStatus(refusal.status)
        default: self
        }
    }
}

extension UnusableResponse {
    fileprivate init(bare status: Int) {
        self.init(status: status, requestedAt: .distantPast, receivedAt: .distantPast)
    }
}

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension CircuitBreakerTable {
    /// Pauses without jitter on a clock that a test may move.
    static func forTests(_ clock: TestClock = TestClock(), logger: Logger = .silent) -> CircuitBreakerTable {
        CircuitBreakerTable(now: { clock.instant }, random: { 0.5 }, logger: logger)
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
