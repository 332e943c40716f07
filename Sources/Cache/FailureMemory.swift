import DarkroomEviction
package import DarkroomHTTPCaching
import DarkroomNetwork
package import DarkroomRequests
package import DarkroomStore
package import Foundation
import Synchronization

/// A negative cache: sources that failed, each for a time that depends on the kind of failure (SDWebImage's failed
/// URLs, with an expiry).
///
/// The errors belong to the pipeline; this module does not depend on them.
package final class FailureMemory: Sendable {
    private struct Failure {
        var error: any Error
        var url: String
        var host: String
        var recordedAt: Date
        var expiry: Date
        /// Consecutive transient failures.
        var attempts = 1
        /// The parts of one content that failed to decode, the latest last; empty if the fetch failed.
        var undecodable: [UndecodableContent] = []
        /// See ``FailureRetention/isBeyondHTTP(_:)``.
        var isBeyondHTTP = false

        /// The approximate cost in memory, in bytes.
        var costBytes: Int {
            512 + url.utf8.count + host.utf8.count + (undecodable.last?.record.costBytes ?? 0)
                + undecodable.count * MemoryLayout<UndecodableContent>.stride
        }

        /// The failed part that the request would decode too.
        func undecodable(of access: CacheAccess, now: Date) -> UndecodableContent? {
            undecodable.last { access.part.includes($0.part) && $0.expiry > now }
        }
    }

    /// A failure that has not expired.
    package struct Remembered: Sendable {
        package var error: any Error
        /// The time until it expires, at least 1.
        package var seconds: Int
        /// See ``FailureRetention/isBeyondHTTP(_:)``.
        package var isBeyondHTTP = false
    }

    /// The budget of all failures in memory; SIEVE evicts beyond it.
    private static let budgetBytes = 16 << 20

    /// The most parts of one content that are remembered; the oldest is dropped first.
    private static let maxParts = 16

    /// How far the wall clock may be set back without invalidating failures.
    private static let toleratedSeconds: TimeInterval = 2

    private let table = Mutex(SieveTable<StoreKey, Failure>(budgetBytes: budgetBytes))
    private let policy: FreshnessPolicy
    private let random: @Sendable () -> Double

    /// - Parameter random: 0..<1, for the backoff's jitter.
    package init(policy: FreshnessPolicy, random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }) {
        self.policy = policy
        self.random = random
    }

    // MARK: Lookup

    /// The failure that a request meets without contacting the origin.
    package func current(of access: CacheAccess, _ mode: LookMode = .use, now: Date) -> Remembered? {
        let failure = table.withLock { table in
            mode == .use ? table.value(for: access.keys.source) : table.peek(access.keys.source)
        }
        // If the clock was set back, the failure would outlast its lifetime.
        guard let failure, failure.expiry > now,
            failure.recordedAt <= now.addingTimeInterval(Self.toleratedSeconds)
        else { return nil }
        let undecodable = failure.undecodable(of: access, now: now)
        // An address with other parameters may have the same key, and not fail.
        guard undecodable != nil || failure.undecodable.isEmpty && failure.url == access.source.canonical else {
            return nil
        }
        let expiry = min(failure.expiry, undecodable?.expiry ?? .distantFuture)
        let seconds = Int(expiry.timeIntervalSince(now).rounded(.up))
        return Remembered(
            error: undecodable?.error ?? failure.error, seconds: max(seconds, 1), isBeyondHTTP: failure.isBeyondHTTP)
    }

    /// The content that failed to decode for the request, which is not tried again while the origin says that it is the
    /// same.
    package func undecodable(of access: CacheAccess, now: Date) -> UndecodableContent? {
        table.withLock { $0.peek(access.keys.source) }?.undecodable(of: access, now: now)
    }

    // MARK: Recording

    /// Records a failed fetch.
    package func record(_ error: any Error, _ retention: FailureRetention, of access: CacheAccess, now: Date) {
        table.withLock { table in
            let before = table.peek(access.keys.source)
            let attempts = before?.url == access.source.canonical ? (before?.attempts ?? 0) + 1 : 1
            let lifetime = retention.lifetime(attempts: attempts, policy: policy, random: random())
            guard lifetime > .zero else { return }
            let failure = Failure(
                error: error, url: access.source.canonical, host: access.source.hostName, recordedAt: now,
                expiry: now.addingTimeInterval(lifetime / .seconds(1)), attempts: attempts,
                isBeyondHTTP: retention.isBeyondHTTP(policy))
            _ = table.insert(failure, cost: failure.costBytes, for: access.keys.source)
        }
    }

    /// Records content of which a part does not decode: until it is stale, or for an hour at most. Failures of other
    /// parts of the same content stay.
    package func record(_ content: UndecodableContent, of access: CacheAccess, now: Date) {
        let fresh = max(content.record.freshness.remaining(at: now), .seconds(1))
        table.withLock { table in
            var parts = table.peek(access.keys.source)?.undecodable ?? []
            parts.removeAll { $0.record.content != content.record.content || $0.part.includes(content.part) }
            parts.append(content)
            // The record may be fresher than the one of earlier failures.
            for index in parts.indices { parts[index].record = content.record }
            let failure = Failure(
                error: content.error, url: access.source.canonical, host: access.source.hostName, recordedAt: now,
                expiry: now.addingTimeInterval(fresh / .seconds(1)), undecodable: Array(parts.suffix(Self.maxParts)))
            _ = table.insert(failure, cost: failure.costBytes, for: access.keys.source)
        }
    }

    /// Records that content decodes for the request, which ends the failures of what it decoded, and of other content.
    package func recordDecoded(_ content: StoreKey, of access: CacheAccess) {
        table.withLock { table in
            guard var failure = table.peek(access.keys.source) else { return }
            failure.undecodable.removeAll { $0.record.content != content || access.part.includes($0.part) }
            if failure.undecodable.isEmpty {
                _ = table.remove(for: access.keys.source)
            } else {
                _ = table.insert(failure, cost: failure.costBytes, for: access.keys.source)
            }
        }
    }

    /// Records that the origin responded, which ends its transient failures. Undecodable content stays recorded.
    package func recordSuccess(of source: StoreKey) {
        table.withLock { table in
            if table.peek(source)?.undecodable.isEmpty == true { _ = table.remove(for: source) }
        }
    }

    /// - Returns: the contents that did not decode.
    @discardableResult
    package func remove(_ sources: [StoreKey]) -> [StoreKey] {
        table.withLock { table in
            sources.compactMap { table.remove(for: $0)?.undecodable.last?.record.content }
        }
    }

    /// Removes the failures that a purge concerns.
    ///
    /// - Returns: the contents that did not decode.
    func removeAll(of target: PurgeTarget) -> [StoreKey] {
        table.withLock { table in
            let removed = table.removeAll { _, failure in
                target.matches(
                    url: failure.url, host: failure.host, tags: failure.undecodable.last?.record.response.tags ?? [])
            }
            return removed.compactMap(\.undecodable.last?.record.content)
        }
    }
}

/// Content of which a part failed to decode: it is not an image, or the image is corrupt.
package struct UndecodableContent: Sendable {
    package var record: SourceRecord
    /// The decoder's error.
    package let error: any Error
    /// The part that failed.
    package let part: SourcePart
    /// When decoding is tried again, even if the content is still the same.
    package let expiry: Date

    private static let maxLifetimeSeconds: TimeInterval = 3_600

    package init(_ record: SourceRecord, _ error: any Error, of part: SourcePart, decodedAt now: Date) {
        self.record = record
        self.error = error
        self.part = part
        expiry = now.addingTimeInterval(Self.maxLifetimeSeconds)
    }
}

/// The part of a source that a request decodes, which may fail although other parts do not.
package struct SourcePart: Hashable, Sendable {
    /// The frames or pages; nil = whichever a request selects.
    private let pages: PageSelection?
    /// Whether pixels are decoded; otherwise only the header is read.
    private let needsPixels: Bool
    /// The only variant that needs the part; nil = all that need these frames or pages.
    private let variant: StoreKey?
    /// Whether it is decoded as far as possible.
    private let showsDamage: Bool

    package init(_ pages: PageSelection?, needsPixels: Bool, variant: StoreKey?, showsDamage: Bool = false) {
        self.showsDamage = showsDamage
        self.pages = pages
        self.needsPixels = needsPixels
        self.variant = variant
    }

    /// The same of all variants.
    package var ofAllVariants: SourcePart {
        SourcePart(pages, needsPixels: needsPixels, variant: nil, showsDamage: showsDamage)
    }

    /// The same of all variants, and of whichever frames or pages a request selects.
    package var ofAllPages: SourcePart {
        SourcePart(nil, needsPixels: needsPixels, variant: nil, showsDamage: showsDamage)
    }

    /// Whether decoding this part decodes the other too, so that it fails if the other does.
    func includes(_ other: SourcePart) -> Bool {
        guard needsPixels || !other.needsPixels, !showsDamage || other.showsDamage,
            other.variant == nil || other.variant == variant
        else { return false }
        guard let selected = other.pages else { return true }
        return pages?.includes(selected) ?? false
    }
}

extension PageSelection {
    /// Whether the other frames or pages are among these, as far as that is known without the source.
    fileprivate func includes(_ other: PageSelection) -> Bool {
        guard first == other.first, mayBeFewer == other.mayBeFewer else { return false }
        if self == other || other.count == 1 { return true }
        guard !isThinned, !other.isThinned, let count, let fewer = other.count else { return false }
        return fewer <= count
    }
}
