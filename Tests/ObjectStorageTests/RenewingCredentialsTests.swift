import DarkroomTestLogs
import Foundation
import Logging
import Synchronization
import Testing

@testable import DarkroomObjectStorage

/// A source of credentials and a clock under a test's control.
private final class ScriptedSource: Sendable {
    typealias Outcome = Result<Credentials, CredentialsError>

    private struct State {
        var time = Date(timeIntervalSince1970: 1_000_000)
        var loads = 0
        var outcomes: [Outcome] = []
    }

    private let state = Mutex(State())
    /// Yields for every load that begins.
    let begun: AsyncStream<Void>
    private let begin: AsyncStream<Void>.Continuation
    /// A load ends for every element, if there is a gate.
    private let gate: AsyncStream<Void>?
    let open: AsyncStream<Void>.Continuation?

    init(gated: Bool = false) {
        (begun, begin) = AsyncStream.makeStream()
        let gate = gated ? AsyncStream<Void>.makeStream() : nil
        self.gate = gate?.stream
        open = gate?.continuation
    }

    var now: Date { state.withLock(\.time) }
    var loads: Int { state.withLock(\.loads) }

    func advance(by seconds: TimeInterval) { state.withLock { $0.time += seconds } }

    /// Adds what the next load returns.
    func add(_ key: String, validFor seconds: TimeInterval?) {
        let expiration = seconds.map { now.addingTimeInterval($0) }
        state.withLock { $0.outcomes.append(.success(.make(key, expiration: expiration))) }
    }

    func addFailure() { state.withLock { $0.outcomes.append(.failure(.unreachable(.instance))) } }

    func load() async throws(CredentialsError) -> Credentials {
        begin.yield()
        if let gate { for await _ in gate { break } }
        return try state.withLock { state -> Outcome in
            state.loads += 1
            return state.outcomes.isEmpty ? .failure(.notFound) : state.outcomes.removeFirst()
        }.get()
    }

    func credentials(logger: Logger = .silent) -> RenewingCredentials {
        RenewingCredentials(load: load, now: { self.now }, logger: logger)
    }
}

@Suite(.timeLimit(.minutes(5)))
struct RenewingCredentialsTests {
    @Test func `Credentials are loaded once`() async throws {
        let source = ScriptedSource()
        source.add("A", validFor: nil)
        let credentials = source.credentials()
        for _ in 0..<3 { #expect(try await credentials.credentials().accessKey == "A") }
        source.advance(by: 1e9)
        #expect(try await credentials.credentials().accessKey == "A")
        #expect(source.loads == 1)
    }

    @Test func `Many callers wait for one load`() async throws {
        let source = ScriptedSource(gated: true)
        source.add("A", validFor: 3600)
        let credentials = source.credentials()
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await credentials.credentials().accessKey } }
            for await _ in source.begun { break }
            source.open?.yield()
            for try await key in group { #expect(key == "A") }
        }
        #expect(source.loads == 1)
    }

    @Test func `They are renewed in the background before they expire`() async throws {
        let source = ScriptedSource(gated: true)
        source.add("A", validFor: 3600)
        source.add("B", validFor: 7200)
        let credentials = source.credentials()
        source.open?.yield()
        #expect(try await credentials.credentials().accessKey == "A")
        source.advance(by: 3600 - RenewingCredentials.renewalMargin - 1)
        #expect(try await credentials.credentials().accessKey == "A")
        #expect(source.loads == 1)
        source.advance(by: 2)
        // The load hangs, and the old credentials are used.
        for _ in 0..<3 { #expect(try await credentials.credentials().accessKey == "A") }
        source.open?.yield()
        await credentials.waitForRenewal()
        #expect(try await credentials.credentials().accessKey == "B")
        #expect(source.loads == 2)
    }

    @Test func `Old credentials are used while renewals fail until they expire`() async throws {
        let source = ScriptedSource()
        source.add("A", validFor: 3600)
        for _ in 0..<3 { source.addFailure() }
        source.add("B", validFor: 3600)
        let credentials = source.credentials()
        #expect(try await credentials.credentials().accessKey == "A")
        source.advance(by: 3400)
        #expect(try await credentials.credentials().accessKey == "A")
        await credentials.waitForRenewal()
        // The pause after a failure: the source is not asked again.
        for _ in 0..<20 { #expect(try await credentials.credentials().accessKey == "A") }
        #expect(source.loads == 2)
        source.advance(by: RenewingCredentials.pause + 1)
        #expect(try await credentials.credentials().accessKey == "A")
        await credentials.waitForRenewal()
        #expect(source.loads == 3)
        source.advance(by: 190)
        await #expect(throws: CredentialsError.unreachable(.instance)) { try await credentials.credentials() }
        await #expect(throws: CredentialsError.unreachable(.instance)) { try await credentials.credentials() }
        #expect(source.loads == 4)
        source.advance(by: RenewingCredentials.pause + 1)
        #expect(try await credentials.credentials().accessKey == "B")
    }

    @Test func `A failure is logged once until it ends`() async throws {
        let source = ScriptedSource()
        for _ in 0..<3 { source.addFailure() }
        source.add("A", validFor: 400)
        source.addFailure()
        let log = LogRecorder(level: .info)
        let credentials = source.credentials(logger: log.logger)
        for _ in 0..<3 {
            await #expect(throws: CredentialsError.unreachable(.instance)) { try await credentials.credentials() }
            source.advance(by: RenewingCredentials.pause + 1)
        }
        #expect(log.events.map(\.message) == ["credentials of the object store not renewed"])
        #expect(try await credentials.credentials().accessKey == "A")
        source.advance(by: 350)
        #expect(try await credentials.credentials().accessKey == "A")
        await credentials.waitForRenewal()
        #expect(log.lines.count == 2)
    }

    @Test func `Credentials that the store considers expired are replaced`() async throws {
        let source = ScriptedSource()
        source.add("A", validFor: nil)
        source.add("B", validFor: nil)
        let credentials = source.credentials()
        let old = try await credentials.credentials()
        credentials.invalidate(old)
        let new = try await credentials.credentials()
        #expect(new.accessKey == "B")
        credentials.invalidate(old)
        #expect(try await credentials.credentials().accessKey == "B")
        #expect(source.loads == 2)
    }

    @Test func `A canceled caller leaves the load to the others`() async throws {
        let source = ScriptedSource(gated: true)
        source.add("A", validFor: nil)
        let credentials = source.credentials()
        let first = Task { try await credentials.credentials() }
        for await _ in source.begun { break }
        let second = Task { try await credentials.credentials() }
        first.cancel()
        await #expect(throws: CredentialsError.canceled) { try await first.value }
        source.open?.yield()
        #expect(try await second.value.accessKey == "A")
        #expect(source.loads == 1)
    }
}
