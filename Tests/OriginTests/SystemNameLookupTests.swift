import DarkroomTestClock
import Synchronization
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

/// Lookups that a test answers. Names that end in `.good` are answered at once.
private final class ScriptedLookups: Sendable {
    static let addresses = [IPAddress.v4(0x7f00_0001)]

    private let completions = Mutex<[String: @Sendable ([IPAddress]) -> Void]>([:])
    private let names = Mutex<[String]>([])
    /// Yields whenever a call has begun to wait.
    let entries: AsyncStream<Void>
    private let entry: AsyncStream<Void>.Continuation

    init() { (entries, entry) = AsyncStream.makeStream() }

    /// The names that were looked up, in order.
    var started: [String] { names.withLock { $0 } }

    func nameLookup(
        clock: any Clock<Duration> = TestClock(), _ change: (inout LookupLimits) -> Void = { _ in }
    ) -> SystemNameLookup {
        var limits = LookupLimits()
        change(&limits)
        return SystemNameLookup(
            limits: limits, clock: clock, lookUp: { [self] in start($0, $1) }, didEnter: { [entry] in entry.yield() })
    }

    private func start(_ name: String, _ completion: @escaping @Sendable ([IPAddress]) -> Void) {
        names.withLock { $0.append(name) }
        if name.hasSuffix(".good") { return completion(Self.addresses) }
        completions.withLock { $0[name] = completion }
    }

    func answer(_ name: String, _ addresses: [IPAddress] = ScriptedLookups.addresses) {
        completions.withLock { $0.removeValue(forKey: name) }?(addresses)
    }

    /// Starts calls, each of which waits when this returns.
    func callWaiting(_ nameLookup: SystemNameLookup, _ calls: [(name: String, client: String)]) async -> [Call] {
        var entries = entries.makeAsyncIterator()
        var tasks: [Call] = []
        for (name, client) in calls {
            tasks.append(Call { await nameLookup.result(of: name, client) })
            await entries.next()
        }
        return tasks
    }
}

private typealias Call = Task<LookupSchedule.Answer, Never>

extension SystemNameLookup {
    fileprivate func result(of name: String, _ client: String = "") async -> LookupSchedule.Answer {
        do throws(OriginError) {
            return .success(try await addresses(of: name, for: client))
        } catch {
            return .failure(error)
        }
    }
}

@Suite(.timeLimit(.minutes(5)))
struct SystemNameLookupTests {
    private let lookups = ScriptedLookups()

    @Test func `Names of localhost are loopback addresses, and the system knows no impossible name`() async throws {
        let nameLookup = SystemNameLookup()
        let addresses = try await nameLookup.addresses(of: "localhost")
        #expect(!addresses.isEmpty && addresses.allSatisfy { [.v4(0x7f00_0001), .v6(1)].contains($0) })
        for name in ["shop.localhost", "shop.localhost.", "localhost."] {
            #expect(try await Set(nameLookup.addresses(of: name)) == Set(addresses), "\(name)")
        }
        // No label is longer than 63 bytes, so that no server is asked.
        let impossible = String(repeating: "x", count: 64) + ".invalid"
        await #expect(throws: OriginError.unreachable(.dns)) { try await nameLookup.addresses(of: impossible) }
    }

    @Test func `A canceled call neither waits nor starts a lookup`() async throws {
        let nameLookup = lookups.nameLookup()
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await nameLookup.result(of: "a.test")
        }
        #expect(await call.value == .failure(.cancelled))
        #expect(lookups.started.isEmpty && nameLookup.callCount == 0)
    }

    @Test func `Concurrent calls share a lookup, one may be canceled, and its addresses are remembered`() async throws {
        let nameLookup = lookups.nameLookup()
        let calls = await lookups.callWaiting(nameLookup, [("a.test", "x"), ("a.test", "y"), ("a.test", "x")])
        calls[0].cancel()
        #expect(await calls[0].value == .failure(.cancelled))
        lookups.answer("a.test")
        for call in calls.dropFirst() { #expect(await call.value == .success(ScriptedLookups.addresses)) }
        #expect(await nameLookup.result(of: "a.test") == .success(ScriptedLookups.addresses))
        #expect(lookups.started == ["a.test"])
    }

    @Test func `Remembered addresses are checked at each use`() async throws {
        let nameLookup = lookups.nameLookup()
        let url = try SourceURL(parsing: "http://a.good/")
        let loopback = AddressPolicy(allowNetworks: [try CIDR(parsing: "127.0.0.0/8")])
        let lenient = SourceGuard(hosts: HostPolicy(), addresses: loopback, nameLookup: nameLookup)
        #expect(try await lenient.vet(url) == ScriptedLookups.addresses)
        let strict = SourceGuard(hosts: HostPolicy(), addresses: AddressPolicy(), nameLookup: nameLookup)
        await #expect(throws: OriginError.unreachable(.dns)) { try await strict.vet(url) }
        #expect(lookups.started == ["a.good"])
    }

    @Test func `A hundred names that never answer do not delay another client's name`() async {
        let nameLookup = lookups.nameLookup()
        let calls = (1...100).map { (name: "www.evil\($0).test", client: "attacker") }
        let hung = await lookups.callWaiting(nameLookup, calls)
        #expect(lookups.started.count == 32)
        #expect(await nameLookup.result(of: "img.good", "visitor") == .success(ScriptedLookups.addresses))
        for call in hung { call.cancel() }
        for call in hung { #expect(await call.value == .failure(.cancelled)) }
        #expect(nameLookup.callCount == 0)
    }

    @Test func `A lookup is given up at the timeout, its name then fails at once, and a late answer is used`() async {
        let clock = TestClock()
        let nameLookup = lookups.nameLookup(clock: clock)
        let calls = await lookups.callWaiting(nameLookup, [("a.test", ""), ("a.test", "")])
        // Both timers sleep.
        for _ in 1...2 { _ = await clock.nextSleep() }
        clock.advance(to: .seconds(5))
        for call in calls { #expect(await call.value == .failure(.timedOut(.lookup))) }
        #expect(await nameLookup.result(of: "a.test") == .failure(.timedOut(.lookup)))
        lookups.answer("a.test")
        #expect(await nameLookup.result(of: "a.test") == .success(ScriptedLookups.addresses))
        #expect(lookups.started == ["a.test"])
    }

    @Test func `A call that gets no thread leaves the queue after two seconds, others get the next free one`() async {
        let clock = TestClock()
        let nameLookup = lookups.nameLookup(clock: clock) { $0.threads = 1 }
        let calls = await lookups.callWaiting(nameLookup, [("a.test", ""), ("b.test", "")])
        for _ in 1...2 { _ = await clock.nextSleep() }
        clock.advance(to: .seconds(2))
        #expect(await calls[1].value == .failure(.timedOut(.waiting)))
        let next = await lookups.callWaiting(nameLookup, [("c.good", "")])
        lookups.answer("a.test", [])
        #expect(await calls[0].value == .failure(.unreachable(.dns)))
        #expect(await next[0].value == .success(ScriptedLookups.addresses))
        #expect(lookups.started == ["a.test", "c.good"])
    }
}
