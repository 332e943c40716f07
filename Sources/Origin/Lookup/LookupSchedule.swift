import DarkroomCPublicSuffix
import DarkroomNetwork
import DarkroomWaiting

/// Decides which lookups run, which wait, and which are answered from memory, so that names whose servers never answer
/// do not delay other lookups.
///
/// Calls for one name share one lookup. A lookup starts if a thread is free and
/// - its registered domain has fewer than ``LookupLimits/threadsPerDomain`` lookups running, and
/// - the client of one of its calls has fewer lookups running than threads are free. One client alone thus gets at most
///   half of the threads, and each further client at most half of the remaining threads.
///
/// A lookup that was given up keeps its thread, and its place in both shares, until the system returns. Meanwhile and
/// for ``LookupLimits/hangLifetime`` its name is refused. After ``LookupLimits/threadsPerDomain`` lookups of a domain
/// hung in a row, all names of the domain that are not remembered are refused too.
struct LookupSchedule: Sendable {
    /// The addresses of a name, at least one, or the reason for their absence.
    typealias Answer = Result<[IPAddress], OriginError>

    /// The next step of a call.
    enum Step: Equatable {
        /// It does not wait.
        case answered(Answer)
        /// It waits, and the lookup of its name must be started.
        case start
        case wait
    }

    private struct Lookup {
        let domain: String
        /// The clients of the calls that wait, by number of the call.
        var calls: [Int: String] = [:]
        /// The client whose lookup occupies a thread, and since when; nil while the lookup waits for a thread.
        var run: (client: String, start: ContinuousClock.Instant)?
        var isGivenUp = false
    }

    private let limits: LookupLimits
    /// By name.
    private var lookups: [String: Lookup] = [:]
    private var calls = ShareCounts()
    private var running = ShareCounts()
    private var answers: ExpiringTable<String, Answer>
    /// The number of lookups in a row that hung, for each domain.
    private var hangs: ExpiringTable<String, Int>

    init(limits: LookupLimits = LookupLimits()) {
        self.limits = limits
        answers = ExpiringTable(capacity: limits.rememberedNames)
        hangs = ExpiringTable(capacity: limits.rememberedNames)
    }

    /// The number of lookups that occupy a thread.
    var runningCount: Int { running.clients.total }
    /// The number of calls that wait, for a thread or for a result.
    var callCount: Int { calls.clients.total }

    func remembered(_ name: String, at now: ContinuousClock.Instant) -> Answer? { answers.value(of: name, at: now) }

    /// - Parameter call: a number that no other call has, greater than the numbers of earlier calls.
    mutating func add(_ call: Int, for name: String, client: String, at now: ContinuousClock.Instant) -> Step {
        if let answer = remembered(name, at: now) { return .answered(answer) }
        let domain = registeredDomain(of: name)
        var lookup = lookups[name] ?? Lookup(domain: domain)
        if lookup.isGivenUp || lookup.run == nil && isHanging(domain, at: now) {
            return .answered(.failure(.timedOut(.lookup)))
        }
        guard mayWait(client, domain) else { return .answered(.failure(.timedOut(.waiting))) }
        lookup.calls[call] = client
        calls.add(client: client, domain: domain)
        let mayStart = lookup.run == nil && self.mayStart(client, domain, at: now)
        if mayStart { occupyThread(&lookup, client, at: now) }
        lookups[name] = lookup
        return mayStart ? .start : .wait
    }

    /// Removes a call that no longer waits. Its lookup goes on if it is running or has other calls.
    ///
    /// - Parameter isQueued: whether to remove it only if it waits for a thread.
    /// - Returns: whether it was removed.
    mutating func remove(_ call: Int, for name: String, ifQueued isQueued: Bool = false) -> Bool {
        guard var lookup = lookups[name], !isQueued || lookup.run == nil,
            let client = lookup.calls.removeValue(forKey: call)
        else { return false }
        calls.remove(client: client, domain: lookup.domain)
        lookups[name] = lookup.run == nil && lookup.calls.isEmpty ? nil : lookup
        return true
    }

    /// Gives up the lookup that a call has waited for too long.
    ///
    /// - Returns: the calls that have waited for it, which fail with ``OriginError/timedOut(_:)`` and `lookup`. None
    ///   if the call does not wait for a running lookup.
    mutating func giveUp(_ call: Int, for name: String, at now: ContinuousClock.Instant) -> [Int] {
        guard var lookup = lookups[name], lookup.run != nil, lookup.calls[call] != nil else { return [] }
        let ended = removeCalls(of: &lookup)
        lookup.isGivenUp = true
        lookups[name] = lookup
        remember(.failure(.timedOut(.lookup)), of: name, for: limits.hangLifetime, at: now)
        recordHang(of: lookup.domain, at: now)
        return ended
    }

    /// Records that the thread of a lookup is free again.
    ///
    /// - Parameter addresses: none if the lookup failed.
    /// - Returns: the calls that have waited for it, and their answer.
    mutating func finish(
        _ name: String, _ addresses: [IPAddress], at now: ContinuousClock.Instant
    ) -> (calls: [Int], answer: Answer) {
        let answer: Answer = addresses.isEmpty ? .failure(.unreachable(.dns)) : .success(addresses)
        guard var lookup = lookups.removeValue(forKey: name), let run = lookup.run else { return ([], answer) }
        running.remove(client: run.client, domain: lookup.domain)
        let ended = removeCalls(of: &lookup)
        if !addresses.isEmpty {
            hangs.remove(lookup.domain)
            remember(answer, of: name, for: limits.answerLifetime, at: now)
        } else if !lookup.isGivenUp {
            let isHang = now - run.start >= limits.hangDuration
            if isHang { recordHang(of: lookup.domain, at: now) } else { hangs.remove(lookup.domain) }
            remember(answer, of: name, for: limits.failureLifetime, at: now)
        }
        return (ended, answer)
    }

    /// Gives a free thread to the waiting lookup of the client with the fewest running lookups; among equals, to the
    /// lookup that has waited longest.
    ///
    /// - Returns: the name to look up, or nil if no lookup may start.
    mutating func startNext(at now: ContinuousClock.Instant) -> String? {
        guard running.clients.total < limits.threads else { return nil }
        var next: (rank: (running: Int, call: Int), name: String, client: String)?
        for (name, lookup) in lookups where lookup.run == nil {
            for (call, client) in lookup.calls where mayStart(client, lookup.domain, at: now) {
                let rank = (running.clients[client], call)
                if next.map({ rank < $0.rank }) ?? true { next = (rank, name, client) }
            }
        }
        guard let next, var lookup = lookups[next.name] else { return nil }
        occupyThread(&lookup, next.client, at: now)
        lookups[next.name] = lookup
        return next.name
    }

    private func mayWait(_ client: String, _ domain: String) -> Bool {
        calls.clients.total < limits.calls && calls.clients[client] < limits.callsPerShare
            && calls.domains[domain] < limits.callsPerShare
    }

    private func mayStart(_ client: String, _ domain: String, at now: ContinuousClock.Instant) -> Bool {
        running.clients[client] < limits.threads - running.clients.total
            && running.domains[domain] < limits.threadsPerDomain && !isHanging(domain, at: now)
    }

    private func isHanging(_ domain: String, at now: ContinuousClock.Instant) -> Bool {
        (hangs.value(of: domain, at: now) ?? 0) >= limits.threadsPerDomain
    }

    private mutating func occupyThread(_ lookup: inout Lookup, _ client: String, at now: ContinuousClock.Instant) {
        lookup.run = (client, now)
        running.add(client: client, domain: lookup.domain)
    }

    private mutating func removeCalls(of lookup: inout Lookup) -> [Int] {
        for client in lookup.calls.values { calls.remove(client: client, domain: lookup.domain) }
        defer { lookup.calls = [:] }
        return lookup.calls.keys.sorted()
    }

    private mutating func remember(
        _ answer: Answer, of name: String, for lifetime: Duration, at now: ContinuousClock.Instant
    ) {
        if case .success(let addresses) = answer, addresses.count > limits.rememberedAddresses {
            answers.remove(name)
        } else {
            answers.set(answer, for: name, until: now + lifetime, at: now)
        }
    }

    private mutating func recordHang(of domain: String, at now: ContinuousClock.Instant) {
        let count = (hangs.value(of: domain, at: now) ?? 0) + 1
        hangs.set(count, for: domain, until: now + limits.hangLifetime, at: now)
    }
}

/// The part of a host name that one owner has registered, and whose name servers thus answer for the whole name: the
/// label below its public suffix, such as `co.uk` or `github.io`, and that suffix. A public suffix, and a name of one
/// label, is a domain of its own.
///
/// - Parameter name: in its canonical spelling, as in ``SourceURL``. A dot at its end is ignored.
func registeredDomain(of name: String) -> String {
    let name = name.hasSuffix(".") ? String(name.dropLast()) : name
    return name.withCString { text in psl_registrable_domain(psl_builtin(), text).map { String(cString: $0) } } ?? name
}

/// Values that each end at a moment of their own. A full table also removes values that would have ended next, so that
/// clients that choose the keys cannot make it grow.
struct ExpiringTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var entries: [Key: (value: Value, end: ContinuousClock.Instant)] = [:]
    private let capacity: Int

    /// - Parameter capacity: the greatest number of values, at least 1.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// The number of values, which may include some that have ended.
    var count: Int { entries.count }

    /// The value of a key, or nil if it has none or the value has ended.
    func value(of key: Key, at now: ContinuousClock.Instant) -> Value? {
        entries[key].flatMap { $0.end > now ? $0.value : nil }
    }

    mutating func set(_ value: Value, for key: Key, until end: ContinuousClock.Instant, at now: ContinuousClock.Instant)
    {
        if entries.count >= capacity, entries[key] == nil { makeRoom(at: now) }
        entries[key] = (value, end)
    }

    mutating func remove(_ key: Key) {
        entries[key] = nil
    }

    /// Removes all values that have ended, and an eighth of the capacity if that is not enough: a flood of keys thus
    /// does not sort at each of them.
    private mutating func makeRoom(at now: ContinuousClock.Instant) {
        entries = entries.filter { $0.value.end > now }
        guard entries.count >= capacity else { return }
        let removalOrder = entries.sorted { $0.value.end < $1.value.end }
        for (key, _) in removalOrder.prefix(entries.count - capacity + max(1, capacity / 8)) { entries[key] = nil }
    }
}
