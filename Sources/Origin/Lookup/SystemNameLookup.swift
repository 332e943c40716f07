public import DarkroomNetwork
import DarkroomWaiting
import Foundation
import Synchronization

/// The operating system's resolver, `getaddrinfo`, on threads of its own: it honors `/etc/hosts` and `nsswitch.conf`.
///
/// `LookupSchedule` keeps names whose servers never answer from delaying others, and remembers results for seconds.
/// `SourceGuard` checks addresses at each use.
///
/// A lookup that hangs is abandoned at the timeout. It occupies its thread until the system gives up.
public final class SystemNameLookup: NameLookup {
    /// Starts a lookup and returns at once. The completion is called once, on any thread, with no addresses if the
    /// lookup failed.
    typealias LookUp = @Sendable (_ name: String, _ completion: @escaping @Sendable ([IPAddress]) -> Void) -> Void
    private typealias Caller = Wait<LookupSchedule.Answer>

    private struct State {
        var schedule: LookupSchedule
        /// By number of the call.
        var callers: [Int: Caller] = [:]
        var lastCall = 0

        mutating func removeCallers(_ calls: [Int]) -> [Caller] {
            calls.compactMap { callers.removeValue(forKey: $0) }
        }
    }

    private let state: Mutex<State>
    private let timeouts: DeadlineTimer
    private let queueTimeouts: DeadlineTimer
    private let lookUp: LookUp
    private let now: @Sendable () -> ContinuousClock.Instant
    private let didEnter: @Sendable () -> Void

    /// A lookup whose calls take at most 5 s, of which at most 2 s are spent waiting for one of 64 threads.
    public convenience init() { self.init(limits: LookupLimits()) }

    /// - Parameter didEnter: called whenever a call has begun to wait.
    init(
        limits: LookupLimits, timeout: Duration = .seconds(5), clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        lookUp: @escaping LookUp = AddressLookup.onThread, didEnter: @escaping @Sendable () -> Void = {}
    ) {
        state = Mutex(State(schedule: LookupSchedule(limits: limits)))
        timeouts = DeadlineTimer(timeout, clock: clock)
        queueTimeouts = DeadlineTimer(min(timeout, .seconds(2)), clock: clock)
        self.lookUp = lookUp
        self.now = now
        self.didEnter = didEnter
    }

    /// Returns all addresses that `getaddrinfo` finds, in its order (RFC 6724).
    ///
    /// - Throws: ``OriginError/timedOut(_:)`` with `lookup` if the name's servers do not answer or did not recently;
    ///   with `waiting` if no thread was free for the client or domain, or if too many calls wait.
    public func addresses(of name: String, for client: String = "") async throws(OriginError) -> [IPAddress] {
        let (call, answer) = state.withLock { state in
            state.lastCall += 1
            return (state.lastCall, state.schedule.remembered(name, at: now()))
        }
        if let answer { return try answer.get() }
        let timeout = timeouts.begin { [weak self] in self?.giveUp(call, name) }
        let queueTimeout = queueTimeouts.begin { [weak self] in
            self?.remove(call, name, ifQueued: true)?.end(.failure(.timedOut(.waiting)))
        }
        defer {
            timeouts.end(timeout)
            queueTimeouts.end(queueTimeout)
        }
        if Task.isCancelled { throw .cancelled }
        let caller = Caller()
        enter(call, name, client, caller)
        return try await caller.answer { [self] in
            remove(call, name)?.end(.failure(.cancelled))
        }.get()
    }

    var callCount: Int { state.withLock(\.schedule.callCount) }

    private func enter(_ call: Int, _ name: String, _ client: String, _ caller: Caller) {
        let step = state.withLock { state -> LookupSchedule.Step in
            let step = state.schedule.add(call, for: name, client: client, at: now())
            if step == .start || step == .wait { state.callers[call] = caller }
            return step
        }
        switch step {
        case .answered(let answer): return caller.end(answer)
        case .start: start(name)
        case .wait: break
        }
        didEnter()
    }

    private func remove(_ call: Int, _ name: String, ifQueued isQueued: Bool = false) -> Caller? {
        state.withLock { state in
            state.schedule.remove(call, for: name, ifQueued: isQueued) ? state.callers.removeValue(forKey: call) : nil
        }
    }

    private func giveUp(_ call: Int, _ name: String) {
        let callers = state.withLock { $0.removeCallers($0.schedule.giveUp(call, for: name, at: now())) }
        for caller in callers { caller.end(.failure(.timedOut(.lookup))) }
    }

    private func start(_ name: String) {
        lookUp(name) { [self] addresses in finish(name, addresses) }
    }

    private func finish(_ name: String, _ addresses: [IPAddress]) {
        let (callers, answer) = state.withLock { state in
            let (calls, answer) = state.schedule.finish(name, addresses, at: now())
            return (state.removeCallers(calls), answer)
        }
        for caller in callers { caller.end(answer) }
        while let next = state.withLock({ $0.schedule.startNext(at: now()) }) { start(next) }
    }
}

/// Looks host names up. ``GuardedHTTPClient`` does so once per hop and connects only to the addresses returned, after
/// it has checked them.
public protocol NameLookup: Sendable {
    /// Returns all IPv4 and IPv6 addresses of the name, best first.
    ///
    /// - Parameter client: the client that the lookup is for, as in `OriginRequest.client`. The empty string counts
    ///   as one client.
    /// - Throws: ``OriginError/unreachable(_:)`` with `dns`, ``OriginError/timedOut(_:)`` with `lookup` or
    ///   `waiting`, or ``OriginError/cancelled``. Must return promptly when the task is canceled.
    func addresses(of name: String, for client: String) async throws(OriginError) -> [IPAddress]
}

/// Lookups by the operating system, which cannot be interrupted: `getaddrinfo` returns when the system gives up, after
/// about 10 s by default (`man resolv.conf`).
enum AddressLookup {
    /// Runs a lookup on a thread that ends with it, so that an idle lookup has no threads. Returns at once.
    ///
    /// - Parameter completion: called once, on that thread, with all addresses in the order of RFC 6724; with none if
    ///   the lookup failed.
    static func onThread(_ name: String, completion: @escaping @Sendable ([IPAddress]) -> Void) {
        let thread = Thread { completion(addresses(of: name)) }
        thread.name = "darkroom.lookup"
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Names below `localhost` are loopback names (RFC 6761 §6.3). Browsers look none of them up, while glibc asks a
    /// server, so that they fail on most systems. Entries of `/etc/hosts` take precedence.
    private static func addresses(of name: String) -> [IPAddress] {
        let found = systemAddresses(of: name)
        return found.isEmpty && SourceURL.Host.name(name).isLoopback ? systemAddresses(of: "localhost") : found
    }

    private static func systemAddresses(of name: String) -> [IPAddress] {
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var answers: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &answers) == 0, let answers else { return [] }
        defer { freeaddrinfo(answers) }
        return sequence(first: answers, next: { $0.pointee.ai_next }).compactMap { IPAddress($0.pointee) }
    }
}

extension IPAddress {
    /// The address in one result of `getaddrinfo`, or nil for another address family.
    ///
    /// Read at its offset, which is the same on every system: after family and port in `sockaddr_in`, and after the
    /// flow label in `sockaddr_in6`.
    fileprivate init?(_ answer: addrinfo) {
        guard let address = UnsafeRawPointer(answer.ai_addr) else { return nil }
        switch answer.ai_family {
        case AF_INET:
            self = .v4(UInt32(bigEndian: address.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        case AF_INET6:
            self = .v6(UInt128(bigEndian: address.loadUnaligned(fromByteOffset: 8, as: UInt128.self)))
        default: return nil
        }
    }
}
