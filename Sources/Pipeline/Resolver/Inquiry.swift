import DarkroomCache
import DarkroomTransforms
import Foundation

/// One request on its way to an answer: the known facts, and the decision that follows from them. It is made once, and
/// keeps what it has learned from one question to the next.
struct Inquiry: Sendable {
    var request: ResolvedRequest
    let mode: LookMode
    var resolution: Resolution
    /// The known entries of the source: from the caches, later from the origin's answer.
    var look: CacheLook
    /// Whether the caches were asked for entries of the source.
    private(set) var hasLooked: Bool
    var variant: FoundVariant?
    /// The variant in the interim output, looked up if the requested output is not stored.
    var interim: FoundVariant?
    /// Whether `variant` is in the interim output.
    var isInterim = false
    /// The document that holds the placeholders.
    var placeholders: FoundVariant?
    var original: Original?
    var report = CacheReport()
    var stopwatch = Stopwatch()

    /// - Parameter look: what is known of the source; nil = it is looked up later.
    init(
        _ request: ResolvedRequest, _ look: CacheLook? = nil, _ mode: LookMode = .use, isRevalidation: Bool = false,
        now: Date
    ) {
        self.request = request
        self.look = look ?? CacheLook()
        self.mode = mode
        hasLooked = look != nil
        resolution = Resolution(
            stored: look?.record?.freshness, isSelected: true, demands: request.demands,
            isRevalidation: isRevalidation, now: now)
    }

    /// Continues with a later lookup. What was learned of the same record stays.
    mutating func take(_ look: CacheLook, now: Date) {
        let isSame = hasLooked && look.record === self.look.record
        (self.look, hasLooked) = (look, true)
        if !isSame { decideAnew(now: now) }
    }

    /// Decides on another record.
    ///
    /// - Parameter isSelected: whether the record's `Vary` matches the request (RFC 9111 §4.1).
    mutating func decideAnew(isSelected: Bool = true, now: Date) {
        restart(with: look)
        resolution = Resolution(
            stored: look.record?.freshness, isSelected: isSelected, demands: request.demands, now: now)
    }

    /// Discards the found entries, since they are of another record or a step failed.
    mutating func restart(with look: CacheLook) {
        self.look = look
        (variant, interim, isInterim, placeholders, original) = (nil, nil, false, nil, nil)
        report = CacheReport()
        stopwatch = Stopwatch()
    }
}
