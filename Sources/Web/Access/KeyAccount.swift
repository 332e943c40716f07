import DarkroomCache
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import Synchronization

/// The quotas of a signing key. Nil = unlimited.
package struct KeyQuotas: Hashable, Sendable {
    /// The bytes that originals and variants of its requests may take in the caches, 0 or more.
    package var cacheBytes: Int?
    /// The seconds that its images may occupy pixel workers.
    package var processor: Allowance?
    /// The bytes of response bodies that may be sent.
    package var egress: Allowance?

    package static let unlimited = KeyQuotas()

    /// A quota that requests are refused beyond.
    package enum Kind: String, CaseIterable, Sendable {
        case processor, egress
    }

    /// The allowance of a kind; nil = unlimited.
    subscript(kind: Kind) -> Allowance? {
        switch kind {
        case .processor: processor
        case .egress: egress
        }
    }
}

/// The costs of the requests that a signing key has signed, and the state of its quotas.
final class KeyAccount: WorkAccount {
    /// The reason to refuse a request.
    struct Refusal: Equatable {
        let kind: KeyQuotas.Kind
        let allowance: Allowance
        /// Above zero and at most the period of the allowance.
        let wait: Duration
    }

    private struct State {
        var quotas = KeyQuotas()
        var buckets: [KeyQuotas.Kind: AllowanceBucket] = [:]
        var totals: [KeyQuotas.Kind: Double] = [:]
        var refusals: [KeyQuotas.Kind: Int] = [:]
        var share: CacheShare?

        mutating func charge(_ cost: Double, to kind: KeyQuotas.Kind, at now: () -> Duration) {
            totals[kind, default: 0] += cost
            guard let allowance = quotas[kind] else { return }
            buckets[kind, default: AllowanceBucket()].charge(cost, to: allowance, at: now())
        }

        mutating func refusal(at now: () -> Duration) -> Refusal? {
            guard !buckets.isEmpty else { return nil }
            let now = now()
            let refusals = KeyQuotas.Kind.allCases.compactMap { kind in
                quotas[kind].flatMap { allowance in
                    buckets[kind]?.wait(for: allowance, at: now).map { wait in
                        Refusal(kind: kind, allowance: allowance, wait: wait)
                    }
                }
            }
            return refusals.max { $0.wait < $1.wait }
        }
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Duration

    /// - Parameter now: a monotonic clock.
    init(now: @escaping @Sendable () -> Duration) {
        self.now = now
    }

    var share: (any AccountShare)? { state.withLock { $0.share } }

    /// Sets the quotas. What was used before counts.
    func setQuotas(_ quotas: KeyQuotas) {
        state.withLock { state in
            state.quotas = quotas
            state.share = quotas.cacheBytes.map { bytes in
                let share = state.share ?? CacheShare(budgetBytes: bytes)
                share.budgetBytes = bytes
                return share
            }
        }
    }

    func charge(processing time: Duration) {
        state.withLock { $0.charge(time / .seconds(1), to: .processor, at: now) }
    }

    /// Charges bytes of a response body.
    func charge(egressBytes: Int) {
        guard egressBytes > 0 else { return }
        state.withLock { $0.charge(Double(egressBytes), to: .egress, at: now) }
    }

    /// The reason to refuse a request, which counts as refused; nil if it may be made.
    func refusal() -> Refusal? {
        state.withLock { state in
            let refusal = state.refusal(at: now)
            if let refusal { state.refusals[refusal.kind, default: 0] += 1 }
            return refusal
        }
    }

    func usage(of id: String) -> KeyUsage {
        let now = now()
        return state.withLock { state in
            var usage = KeyUsage(
                id: id, processorSeconds: state.totals[.processor] ?? 0, egressBytes: state.totals[.egress] ?? 0,
                cacheBytes: state.share?.bytes)
            for kind in KeyQuotas.Kind.allCases {
                guard let allowance = state.quotas[kind] else { continue }
                let ratio = state.buckets[kind, default: AllowanceBucket()].usedRatio(of: allowance, at: now)
                usage.quotas.append((kind, ratio, state.refusals[kind] ?? 0))
            }
            if let share = state.share, share.budgetBytes > 0 {
                usage.cacheRatio = Double(share.bytes) / Double(share.budgetBytes)
            }
            return usage
        }
    }
}

/// What a signing key has used, for metrics.
package struct KeyUsage: Sendable {
    package let id: String
    /// Seconds on pixel workers since the start of the process.
    package let processorSeconds: Double
    /// Bytes of response bodies since the start of the process.
    package let egressBytes: Double
    /// Bytes of cache entries; nil without a quota of the cache.
    package let cacheBytes: Int?
    /// The used part of the cache's quota; nil without one.
    package fileprivate(set) var cacheRatio: Double?
    /// The used part of each other quota, 0 to 2, and the number of requests that were refused beyond it.
    package fileprivate(set) var quotas: [(kind: KeyQuotas.Kind, ratio: Double, refusals: Int)] = []
}

/// The accounts of signing keys by their IDs. They outlive a reload of the keys.
package final class KeyAccounts: Sendable {
    private let accounts = Mutex<[String: KeyAccount]>([:])
    private let now: @Sendable () -> Duration

    /// - Parameter now: a monotonic clock.
    package init(
        now: @escaping @Sendable () -> Duration = { [start = ContinuousClock.now] in start.duration(to: .now) }
    ) {
        self.now = now
    }

    /// The account of each current key, with its quotas. Accounts of other keys end.
    func accounts(of access: Access) -> [String: KeyAccount] {
        accounts.withLock { accounts in
            let before = accounts
            accounts = [:]
            for key in access.signingKeys {
                let account = before[key.id] ?? KeyAccount(now: now)
                account.setQuotas(access.keyQuotas[key.id] ?? KeyQuotas())
                accounts[key.id] = account
            }
            return accounts
        }
    }

    /// The usage of each current key, in the order of their IDs.
    package var usage: [KeyUsage] {
        accounts.withLock(\.self).sorted { $0.key < $1.key }.map { $0.value.usage(of: $0.key) }
    }
}

/// An amount per period: the size of a bucket that is charged after the fact, and the time in which it refills
/// completely.
package struct Allowance: Hashable, Sendable {
    /// Seconds or bytes, above 0.
    package let amount: Double
    /// Above 0.
    package let period: Duration

    package init(amount: Double, period: Duration) {
        self.amount = amount
        self.period = period
    }
}

/// The use of an allowance. Because the cost of a request is known only afterward, a bucket can be overdrawn, at most
/// by the whole amount: so a wait is never longer than the period.
struct AllowanceBucket: Sendable {
    private var used = 0.0
    private var settledAt = Duration.zero

    /// Adds the cost of a request.
    mutating func charge(_ cost: Double, to allowance: Allowance, at now: Duration) {
        settle(allowance, at: now)
        used = min(used + cost, 2 * allowance.amount)
    }

    /// The time until a request may be made, above zero and at most the period; nil = it may be made now.
    mutating func wait(for allowance: Allowance, at now: Duration) -> Duration? {
        settle(allowance, at: now)
        let excess = used / allowance.amount - 1
        // Rounding must not refuse a request that waited for exactly the time in `Retry-After`.
        guard excess > 1e-6 else { return nil }
        return .microseconds(Int64((allowance.period / .microseconds(1) * excess).rounded()))
    }

    /// The part of the allowance in use, 0 to 2; requests are refused above 1.
    mutating func usedRatio(of allowance: Allowance, at now: Duration) -> Double {
        settle(allowance, at: now)
        return used / allowance.amount
    }

    private mutating func settle(_ allowance: Allowance, at now: Duration) {
        let refilled = allowance.amount * (max(.zero, now - settledAt) / allowance.period)
        // A reload may have lowered the amount.
        used = min(max(0, used - refilled), 2 * allowance.amount)
        settledAt = max(settledAt, now)
    }
}
