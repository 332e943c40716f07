import DarkroomEviction
import Synchronization

/// Decoded pictures of hot originals, so that the next width needs no new decode: the least recently used goes first.
///
/// A kept picture stands for exactly one decode: that of the same bytes with the same pages and the same shrink of the
/// decoder's. The chain then does with it what it would have done with a new one, so a result has the same bytes whether or not
/// the cache had a part in it. PNG, GIF, AVIF, HEIC, JPEG XL and TIFF cannot shrink while they are decoded: one entry serves
/// every size. JPEG has an entry for each of its four levels, WebP for each of eight, SVG for each size
/// asked for.
///
/// Only pictures that were decoded to their last row get in. All methods are safe from any thread and return quickly: no pixels
/// are copied at all, and none are freed under the lock.
public final class DecodedCache: Sendable {
    /// What an entry costs besides its pixels and its metadata.
    public static let entryOverheadBytes = 4096

    /// The budget in bytes. At 0 nothing is kept.
    public let budgetBytes: Int

    /// What one entry may cost.
    private let maxEntryBytes: Int
    private let state = Mutex(State())

    /// A cache of at most `budgetBytes`; 0 disables it. An entry that costs more than `maxEntryBytes`, by default a quarter of
    /// that, is not kept.
    public init(budgetBytes: Int, maxEntryBytes: Int? = nil) {
        self.budgetBytes = max(0, budgetBytes)
        self.maxEntryBytes = maxEntryBytes ?? budgetBytes / 4
    }

    /// What the cache holds and what it has done so far.
    public var statistics: DecodedStatistics {
        state.withLock { $0.statistics }
    }

    /// Drops all pictures decoded from these bytes.
    ///
    /// - Parameter identity: `ImageJob.identity` of the jobs that had them kept.
    public func removeAll(identity: String) {
        let freed = state.withLock { $0.removeAll(identity: identity) }
        _ = consume freed
    }

    /// Drops everything.
    public func removeEverything() { shrink(toBytes: 0) }

    /// Drops the least recently used pictures until what is left costs at most so much. The budget stays as it is.
    public func shrink(toBytes limit: Int) {
        let freed = state.withLock { $0.shrink(toBytes: limit) }
        // The freed pixels go here, after the lock.
        _ = consume freed
    }

    /// Which decode of which bytes.
    struct Key: Hashable, Sendable {
        let identity: String
        let parameters: DecodeParameters
        /// Whether the pixels were turned by their orientation.
        var isUpright = false
    }

    func pixels(for key: Key) -> DecodedPixels? {
        guard budgetBytes > 0 else { return nil }
        return state.withLock { $0.pixels(for: key) }
    }

    /// Whether `keep` would keep them.
    func accepts(_ pixels: DecodedPixels) -> Bool { cost(pixels) <= min(maxEntryBytes, budgetBytes) }

    func keep(_ pixels: DecodedPixels, for key: Key) {
        guard accepts(pixels) else { return }
        let held = Held(key: key, pixels: pixels, costBytes: cost(pixels))
        let freed = state.withLock { $0.keep(held, budgetBytes: budgetBytes) }
        _ = consume freed
    }

    private func cost(_ pixels: DecodedPixels) -> Int { pixels.byteCount + Self.entryOverheadBytes }
}

/// What a decoded cache holds and has done since it was made.
public struct DecodedStatistics: Equatable, Codable, Sendable {
    /// Pictures held.
    public var entries = 0
    /// What they cost, in bytes.
    public var bytes = 0
    /// Decodes that were not needed.
    public var hits = 0
    /// Decodes that were, of sources that may be kept.
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

/// What the lock guards; its methods assume that it is held, and give back what has to be freed after it.
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

    mutating func keep(_ held: Held, budgetBytes: Int) -> [Held] {
        var freed: [Held] = []
        if let slot = slots[held.key.identity]?[held.key], let replaced = recent.remove(slot) {
            forget(replaced)
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
            forget(oldest)
            freed.append(oldest)
        }
        return freed
    }

    mutating func removeAll(identity: String) -> [Held] {
        let freed = (slots[identity] ?? [:]).values.compactMap { recent.remove($0) }
        for held in freed { forget(held) }
        return freed
    }

    /// Drops what left the list from the table and the sums.
    private mutating func forget(_ held: Held) {
        slots[held.key.identity]?[held.key] = nil
        if slots[held.key.identity]?.isEmpty == true { slots[held.key.identity] = nil }
        statistics.bytes -= held.costBytes
        statistics.entries -= 1
    }
}
