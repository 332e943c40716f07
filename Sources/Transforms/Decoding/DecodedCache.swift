import DarkroomEviction
import Synchronization

/// A cache of decoded images of hot originals, so that the next width needs no new decode. Evicts the least recently
/// used.
///
/// An entry is exactly one decode: of the same bytes, the same pages and the same shrink-on-load. The chain treats it
/// like a fresh decode, so a result has the same bytes with and without the cache. PNG, GIF, AVIF, HEIC, JPEG XL and
/// TIFF cannot shrink on load: one entry serves every size. JPEG has an entry for each of its four factors, WebP for
/// each of eight scales, SVG for each size.
///
/// Only images decoded to their last row are stored. All methods are thread-safe and return quickly: pixels are never
/// copied, and never freed under the lock.
public final class DecodedCache: Sendable {
    /// The bytes that an entry is charged in addition to its pixels and its metadata.
    public static let entryOverheadBytes = 4096

    /// The budget in bytes; 0 = nothing is cached.
    public let budgetBytes: Int

    private let maxEntryBytes: Int
    private let state = Mutex(State())

    /// A cache of at most `budgetBytes`; 0 disables it. An entry of more than `maxEntryBytes`, by default a third of
    /// the budget, is not stored.
    public init(budgetBytes: Int, maxEntryBytes: Int? = nil) {
        self.budgetBytes = max(0, budgetBytes)
        self.maxEntryBytes = maxEntryBytes ?? budgetBytes / 3
    }

    /// The cache's contents, hits and misses so far.
    public var statistics: DecodedStatistics {
        state.withLock { $0.statistics }
    }

    /// Removes all decodes of a source.
    ///
    /// - Parameter identity: `ImageJob.identity` of the jobs that stored them.
    public func removeAll(identity: String) {
        let freed = state.withLock { $0.removeAll(identity: identity) }
        _ = consume freed
    }

    /// Removes the least recently used entries until the remaining entries take at most `limit` bytes. The budget does
    /// not change.
    public func shrink(toBytes limit: Int) {
        let freed = state.withLock { $0.shrink(toBytes: limit) }
        _ = consume freed
    }

    /// A decode of a source.
    struct Key: Hashable, Sendable {
        let identity: String
        let parameters: DecodeParameters
        /// Whether the orientation has been applied to the pixels.
        var isUpright = false
    }

    func pixels(for key: Key) -> DecodedPixels? {
        guard budgetBytes > 0 else { return nil }
        return state.withLock { $0.pixels(for: key) }
    }

    /// Whether `store` would store these pixels.
    func accepts(_ pixels: DecodedPixels) -> Bool { cost(pixels) <= min(maxEntryBytes, budgetBytes) }

    func store(_ pixels: DecodedPixels, for key: Key) {
        guard accepts(pixels) else { return }
        let held = Held(key: key, pixels: pixels, costBytes: cost(pixels))
        let freed = state.withLock { $0.store(held, budgetBytes: budgetBytes) }
        _ = consume freed
    }

    private func cost(_ pixels: DecodedPixels) -> Int { pixels.byteCount + Self.entryOverheadBytes }
}

/// The contents, hits and misses of a ``DecodedCache`` since it was created.
public struct DecodedStatistics: Equatable, Codable, Sendable {
    /// Cached images.
    public var entries = 0
    /// Their memory in bytes.
    public var bytes = 0
    /// Decodes avoided.
    public var hits = 0
    /// Decodes needed, of sources with an identity.
    public var misses = 0

    public init(entries: Int = 0, bytes: Int = 0, hits: Int = 0, misses: Int = 0) {
        self.entries = entries
        self.bytes = bytes
        self.hits = hits
        self.misses = misses
    }
}

private struct Held {
    let key: DecodedCache.Key
    let pixels: DecodedPixels
    let costBytes: Int
}

/// The state behind the lock. Methods assume that it is held and return the entries to free after it.
private struct State {
    var statistics = DecodedStatistics()
    /// By source, then by decode, so that a source is removed without a search.
    private var slots: [String: [DecodedCache.Key: LinkedSlots<Held>.Slot]] = [:]
    private var recent = LinkedSlots<Held>()

    mutating func pixels(for key: DecodedCache.Key) -> DecodedPixels? {
        guard let slot = slots[key.identity]?[key], let held = recent[slot] else {
            statistics.misses += 1
            return nil
        }
        recent.moveToNewest(slot)
        statistics.hits += 1
        return held.pixels
    }

    mutating func store(_ held: Held, budgetBytes: Int) -> [Held] {
        var freed: [Held] = []
        if let slot = slots[held.key.identity]?[held.key], let replaced = recent.remove(slot) {
            removeFromTable(replaced)
            freed.append(replaced)
        }
        freed += shrink(toBytes: budgetBytes - held.costBytes)
        slots[held.key.identity, default: [:]][held.key] = recent.insert(held)
        statistics.bytes += held.costBytes
        statistics.entries += 1
        return freed
    }

    mutating func shrink(toBytes limit: Int) -> [Held] {
        var freed: [Held] = []
        while statistics.bytes > limit, let oldest = recent.removeOldest() {
            removeFromTable(oldest)
            freed.append(oldest)
        }
        return freed
    }

    mutating func removeAll(identity: String) -> [Held] {
        let freed = (slots[identity] ?? [:]).values.compactMap { recent.remove($0) }
        for held in freed { removeFromTable(held) }
        return freed
    }

    /// Removes an entry that has left the list from the table and the totals.
    private mutating func removeFromTable(_ held: Held) {
        slots[held.key.identity]?[held.key] = nil
        if slots[held.key.identity]?.isEmpty == true { slots[held.key.identity] = nil }
        statistics.bytes -= held.costBytes
        statistics.entries -= 1
    }
}
